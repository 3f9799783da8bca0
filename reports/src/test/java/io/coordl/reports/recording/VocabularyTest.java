package io.coordl.reports.recording;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Name;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The events are read by name and field: this holds both sides together. */
class VocabularyTest {

  @ParameterizedTest
  @ValueSource(
      classes = {
        JobStatistics.class,
        Epoch.class,
        StoreStatistics.class,
        PeerStatistics.class,
        StagingStatistics.class,
        LatencyStatistics.class,
        Configuration.class,
        Phase.class,
        Host.class,
        Fault.class
      })
  void everyFieldReadIsAFieldOfTheAgentsEvent(Class<? extends Record> mirror) throws Exception {
    Class<?> event = eventOf(mirror);
    for (RecordComponent component : mirror.getRecordComponents()) {
      Field field = event.getField(component.getName());
      assertThat(field.getType()).as(field.toString()).isEqualTo(component.getType());
    }
    assertThat(mirror.getRecordComponents()).isNotEmpty();
  }

  private static Class<?> eventOf(Class<? extends Record> mirror) {
    String name = mirror.getAnnotation(EventName.class).value();
    return Recordings.EVENTS.stream()
        .filter(event -> event.getAnnotation(Name.class).value().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("the agent has no event " + name));
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        Epoch.class,
        JobStatistics.class,
        StoreStatistics.class,
        PeerStatistics.class,
        StagingStatistics.class,
        Phase.class,
        Host.class
      })
  void noFigureOfTheEventIsForgotten(Class<? extends Record> mirror) {
    assertThat(mirror.getRecordComponents())
        .extracting(RecordComponent::getName)
        .containsAll(
            EventType.getEventType(eventOf(mirror).asSubclass(Event.class)).getFields().stream()
                .map(field -> field.getName())
                .filter(name -> !name.matches("startTime|duration|eventThread|stackTrace"))
                .toList());
  }

  @ParameterizedTest
  @ValueSource(classes = Jvm.class)
  void theJdkStillWritesWhoItIs(Class<? extends Record> mirror) {
    String name = mirror.getAnnotation(EventName.class).value();
    EventType type =
        FlightRecorder.getFlightRecorder().getEventTypes().stream()
            .filter(known -> known.getName().equals(name))
            .findFirst()
            .orElseThrow();
    for (RecordComponent component : mirror.getRecordComponents()) {
      assertThat(type.getField(component.getName())).as(component.getName()).isNotNull();
    }
  }
}
