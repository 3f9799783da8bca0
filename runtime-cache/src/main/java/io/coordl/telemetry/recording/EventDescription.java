package io.coordl.telemetry.recording;

import io.coordl.telemetry.event.AgentEvents;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import jdk.jfr.Enabled;
import jdk.jfr.Label;
import jdk.jfr.MetadataDefinition;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import jdk.jfr.Timestamp;

/**
 * Generates, at build time, the JFR metadata of the agent's events from the fields and annotations
 * of their classes. {@link EventTypes} reads the result. At run time, the annotation proxies alone
 * would cost a job a third of a second of CPU. Every event has a start, a duration and the thread
 * that wrote it.
 */
public final class EventDescription {
  /** All event types that a recording of the agent may contain. */
  static final List<Class<?>> EVENTS =
      Stream.<Class<?>>concat(Stream.of(JvmInformation.class), AgentEvents.ALL.stream()).toList();

  private static final String THREAD = "java.lang.Thread";
  private static final long FIRST_ID = 100;

  /** Annotations that configure recording instead of describing the content. */
  private static final Set<Class<?>> SETTINGS =
      Set.of(
          Name.class,
          Period.class,
          StackTrace.class,
          Threshold.class,
          Enabled.class,
          Registered.class);

  /** One element of the metadata tree. */
  private record Element(String name, List<String> attributes, List<Element> children) {
    Element(String name, String... attributes) {
      this(name, List.of(attributes), new ArrayList<>());
    }

    Element with(Element... more) {
      children.addAll(List.of(more));
      return this;
    }
  }

  private final Map<String, Long> ids = new HashMap<>();
  private final List<Element> classes = new ArrayList<>();
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(bytes);

  private EventDescription() {}

  /** Writes the description to the file that the first argument names. */
  public static void main(String[] args) throws IOException {
    EventDescription description = new EventDescription();
    description.writeAll();
    Files.write(Path.of(args[0]), description.bytes.toByteArray());
  }

  private void writeAll() throws IOException {
    addThreadType();
    out.writeLong(id(THREAD));
    out.writeInt(EVENTS.size());
    for (Class<?> event : EVENTS) {
      addEventType(event);
    }
    writeMetadata();
  }

  private long id(String type) {
    Long known = ids.get(type);
    if (known == null) {
      known = FIRST_ID + ids.size();
      ids.put(type, known);
    }
    return known;
  }

  private Element addType(String name, String superType) {
    String id = Long.toString(id(name));
    Element element =
        superType.isEmpty()
            ? new Element("class", "name", name, "id", id)
            : new Element("class", "name", name, "superType", superType, "id", id);
    classes.add(element);
    return element;
  }

  private static String nameOf(Class<?> type) {
    Name name = type.getAnnotation(Name.class);
    return name == null ? type.getName() : name.value();
  }

  /** Returns the id of a type without fields, as text. */
  private String simpleTypeId(Class<?> type) {
    if (!ids.containsKey(type.getName())) {
      addType(type.getName(), "");
    }
    return Long.toString(id(type.getName()));
  }

  private Element field(String name, Class<?> type) {
    return type.isArray()
        ? new Element(
            "field", "name", name, "class", simpleTypeId(type.getComponentType()), "dimension", "1")
        : new Element("field", "name", name, "class", simpleTypeId(type));
  }

  private void addThreadType() {
    addType(THREAD, "")
        .with(
            field("osName", String.class),
            field("osThreadId", long.class),
            field("javaName", String.class),
            field("javaThreadId", long.class));
  }

  private void addEventType(Class<?> event) throws IOException {
    Element type = addType(nameOf(event), "jdk.jfr.Event");
    annotate(type, event);
    String thread = Long.toString(id(THREAD));
    type.with(
        field("startTime", long.class)
            .with(
                annotation(Timestamp.class, "value", Timestamp.TICKS),
                annotation(Label.class, "value", "Start Time")),
        field("duration", long.class)
            .with(
                annotation(Timespan.class, "value", Timespan.TICKS),
                annotation(Label.class, "value", "Duration")),
        new Element("field", "name", "eventThread", "class", thread, "constantPool", "true")
            .with(annotation(Label.class, "value", "Event Thread")));
    List<Field> fields = AgentEvents.fields(event);
    out.writeUTF(event.getName());
    out.writeLong(id(nameOf(event)));
    out.writeLong(threshold(event));
    out.writeInt(fields.size());
    for (Field field : fields) {
      Element described = field(field.getName(), field.getType());
      annotate(described, field);
      type.with(described);
      out.writeUTF(field.getName());
    }
  }

  private static long threshold(Class<?> event) {
    Threshold threshold = event.getAnnotation(Threshold.class);
    if (threshold == null) {
      return 0;
    }
    String value = threshold.value();
    if (!value.endsWith(" ms")) {
      throw new IllegalArgumentException("expected a threshold in milliseconds: " + value);
    }
    return TimeUnit.MILLISECONDS.toNanos(Long.parseLong(value.substring(0, value.length() - 3)));
  }

  private void annotate(Element element, AnnotatedElement of) {
    for (Annotation annotation : of.getAnnotations()) {
      Class<? extends Annotation> type = annotation.annotationType();
      if (type.isAnnotationPresent(MetadataDefinition.class) && !SETTINGS.contains(type)) {
        element.with(annotation(type, values(annotation)));
      }
    }
  }

  private static String[] values(Annotation annotation) {
    List<String> values = new ArrayList<>();
    for (Method method : annotation.annotationType().getDeclaredMethods()) {
      Object value;
      try {
        value = method.invoke(annotation);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
      if (value instanceof Object[] array) {
        for (int i = 0; i < array.length; i++) {
          values.add(method.getName() + "-" + i);
          values.add(array[i].toString());
        }
      } else {
        values.add(method.getName());
        values.add(String.valueOf(value));
      }
    }
    return values.toArray(new String[0]);
  }

  private Element annotation(Class<? extends Annotation> type, String... values) {
    String name = nameOf(type);
    if (!ids.containsKey(name)) {
      Element described = addType(name, "java.lang.annotation.Annotation");
      annotate(described, type);
      for (Method method : type.getDeclaredMethods()) {
        described.with(field(method.getName(), method.getReturnType()));
      }
    }
    List<String> attributes = new ArrayList<>(List.of("class", Long.toString(id(name))));
    attributes.addAll(List.of(values));
    return new Element("annotation", attributes, new ArrayList<>());
  }

  private void writeMetadata() throws IOException {
    Element root =
        new Element("root")
            .with(
                new Element("metadata", List.of(), classes),
                new Element("region", "locale", "en_US", "gmtOffset", "0"));
    Map<String, Integer> texts = new LinkedHashMap<>();
    FlightBytes tree = new FlightBytes();
    write(tree, root, texts);
    FlightBytes metadata = new FlightBytes();
    int at = metadata.begin(EventTypes.METADATA);
    metadata.number(0); // start
    metadata.number(0); // duration
    metadata.number(1); // metadata ID
    metadata.number(texts.size());
    texts.keySet().forEach(metadata::text);
    metadata.raw(tree.array(), tree.size());
    metadata.end(at);
    out.write(metadata.array(), 0, metadata.size());
  }

  /** Appends an element; each text is written as its index, in the order of first use. */
  private static void write(FlightBytes tree, Element element, Map<String, Integer> texts) {
    ToIntFunction<String> index = text -> texts.computeIfAbsent(text, absent -> texts.size());
    tree.number(index.applyAsInt(element.name()));
    tree.number(element.attributes().size() / 2);
    element.attributes().forEach(text -> tree.number(index.applyAsInt(text)));
    tree.number(element.children().size());
    element.children().forEach(child -> write(tree, child, texts));
  }
}
