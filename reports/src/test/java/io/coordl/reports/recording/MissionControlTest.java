package io.coordl.reports.recording;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.coordl.telemetry.event.BatchEvent;
import io.coordl.telemetry.event.CheckpointEvent;
import io.coordl.telemetry.event.DataStallEvent;
import io.coordl.telemetry.event.DecodeEvent;
import io.coordl.telemetry.event.PeerFetchEvent;
import io.coordl.telemetry.event.RewrittenEvent;
import io.coordl.telemetry.event.StepEvent;
import io.coordl.telemetry.event.TransformEvent;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import jdk.jfr.AnnotationElement;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Name;
import jdk.jfr.Relational;
import jdk.jfr.Timespan;
import jdk.jfr.ValueDescriptor;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmc.common.item.IAccessorKey;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IType;
import org.openjdk.jmc.common.unit.ContentType;
import org.openjdk.jmc.common.unit.UnitLookup;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;

/** JDK Mission Control's reader finds all labels and units, and relates a batch's events. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MissionControlTest {
  private static final Set<String> OF_ONE_BATCH =
      Set.of(
          "io.coordl.Fetch",
          "io.coordl.PeerFetch",
          "io.coordl.Decode",
          "io.coordl.Transform",
          "io.coordl.Batch",
          "io.coordl.DataStall",
          "io.coordl.Step");

  private final Map<String, IType<?>> types = new HashMap<>();
  private final Map<String, EventType> declared = new HashMap<>();

  @BeforeAll
  void load(@TempDir Path folder) throws Exception {
    Path file =
        Recordings.record(
            folder.resolve("job.jfr"),
            () -> {
              Recordings.emitJob();
              Recordings.emitFetches(1);
              Recordings.emitFault("here", "it");
              new DecodeEvent().commit();
              new TransformEvent().commit();
              new BatchEvent().commit();
              new DataStallEvent().commit();
              new StepEvent().commit();
              new CheckpointEvent().commit();
              new RewrittenEvent().commit();
              new PeerFetchEvent().commit();
              Recordings.emitPeer("node1:7801", 1, 1);
              Recordings.emitPhase();
              Recordings.emitHost();
            });
    IItemCollection events = JfrLoaderToolkit.loadEvents(file.toFile());
    for (IItemIterable ofOneType : events) {
      types.put(ofOneType.getType().getIdentifier(), ofOneType.getType());
    }
    Recordings.EVENTS.forEach(
        event -> {
          EventType type = EventType.getEventType(event);
          declared.put(type.getName(), type);
        });
    assertThat(types.keySet()).containsAll(declared.keySet());
  }

  @Test
  void everyEventIsInOurCategoryWithLabelAndDescription() {
    declared.forEach(
        (name, type) -> {
          assertThat(type.getCategoryNames()).as(name).containsExactly("CoorDL");
          IType<?> seen = types.get(name);
          assertThat(seen.getName()).as(name).isEqualTo(type.getLabel()).isNotBlank();
          // JMC adds the event's name to the description.
          assertThat(type.getDescription()).as(name).isNotBlank();
          assertThat(seen.getDescription()).as(name).startsWith(type.getDescription());
        });
  }

  @Test
  void everyFieldHasALabelAndMissionControlKnowsItsUnit() {
    declared.forEach(
        (name, type) -> {
          for (ValueDescriptor field : type.getFields()) {
            String where = name + "." + field.getName();
            assertThat(field.getLabel()).as(where).isNotBlank();
            if (field.getAnnotation(Timespan.class) != null
                && !field.getName().equals("duration")) {
              assertThat(contentType(name, field)).as(where).isEqualTo(UnitLookup.TIMESPAN);
            }
            if (field.getAnnotation(DataAmount.class) != null) {
              assertThat(contentType(name, field)).as(where).isEqualTo(UnitLookup.MEMORY);
            }
          }
        });
  }

  @Test
  void noEventOfTheAgentIsMissing() {
    Set<String> events = new HashSet<>();
    for (JavaClass type : new ClassFileImporter().importPackages("io.coordl.telemetry.event")) {
      if (type.isAssignableTo(Event.class)
          && !type.getModifiers().contains(JavaModifier.ABSTRACT)) {
        events.add(type.getAnnotationOfType(Name.class).value());
      }
    }
    assertThat(declared.keySet()).containsExactlyInAnyOrderElementsOf(events);
    assertThat(types.keySet()).containsAll(events);
  }

  /** A time or size without a unit would be shown as a bare number. */
  @Test
  void noTimeOrSizeIsABareNumber() {
    Set<String> bare = new HashSet<>();
    declared
        .values()
        .forEach(
            type -> {
              for (ValueDescriptor field : type.getFields()) {
                if (!field.getName().equals("startTime") && isBare(field)) {
                  bare.add(type.getName() + "." + field.getName());
                }
              }
            });
    assertThat(bare).isEmpty();
  }

  private static boolean isBare(ValueDescriptor field) {
    String name = field.getName();
    boolean time = name.matches("(?i)wall|compute|.*stall|.*time|.*nanos.*|checkpoint|p\\d+|wait");
    boolean size = name.matches("(?i).*bytes|.*memory|.*rate.*|capacity|used");
    return switch (field.getTypeName()) {
      case "long" ->
          (time && field.getAnnotation(Timespan.class) == null)
              || (size && field.getAnnotation(DataAmount.class) == null);
      // The JDK's tools support no fractional times, so the description must name the unit.
      case "double" -> time && !field.getDescription().contains("anoseconds");
      default -> false;
    };
  }

  /** JMC joins events by a common attribute, the JDK's tools by the relational annotation. */
  @Test
  void theEventsOfOneBatchAreRelated() {
    Set<IAccessorKey<?>> shared = new HashSet<>();
    Set<String> relations = new HashSet<>();
    for (String name : OF_ONE_BATCH) {
      for (IAccessorKey<?> key : types.get(name).getAccessorKeys().keySet()) {
        if (key.getIdentifier().equals("batch")) {
          shared.add(key);
        }
      }
      for (AnnotationElement annotation :
          declared.get(name).getField("batch").getAnnotationElements()) {
        if (annotation.getAnnotation(Relational.class) != null) {
          relations.add(annotation.getTypeName());
        }
      }
      assertThat(declared.get(name).getField("batch").getAnnotationElements())
          .as(name)
          .anyMatch(annotation -> annotation.getAnnotation(Relational.class) != null);
    }
    assertThat(shared).hasSize(1);
    assertThat(relations).containsExactly("io.coordl.BatchId");
  }

  private ContentType<?> contentType(String event, ValueDescriptor field) {
    return types.get(event).getAccessorKeys().entrySet().stream()
        .filter(entry -> entry.getKey().getIdentifier().equals(field.getName()))
        .map(Map.Entry::getKey)
        .map(IAccessorKey::getContentType)
        .findFirst()
        .orElseThrow(() -> new AssertionError(event + " lacks " + field.getName()));
  }
}
