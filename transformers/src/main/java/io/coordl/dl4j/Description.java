package io.coordl.dl4j;

import io.coordl.pipeline.CannotShareException;
import io.coordl.purity.ClassFiles;
import io.coordl.purity.JdkObjects;
import java.awt.Color;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.ndarray.INDArray;

/**
 * Objects of the program in words: a transform, a preprocessor, a source of labels. Two jobs give
 * equal words to objects that do the same: of equal classes, by name and, for those that are no
 * library's, class file, with equal fields. What changes while a library's object works, and random
 * generators, do not count. Reads fields only; calls nothing of the program.
 */
final class Description {
  private static final int LONG_TEXT = 200;
  private static final int DEEPEST = 12;

  /** Whoever refers to a whole network is not to hold up each pass. */
  private static final int MOST_OBJECTS = 10_000;

  /** Of libraries, beside the JDK's: loggers, native things. */
  private static final List<String> TELLS_NOTHING = List.of("org.slf4j.", "org.bytedeco.");

  /** Fields of DataVec's transforms that hold what the last image was like. */
  private static final Set<String> SCRATCH =
      Set.of(
          "x",
          "y",
          "h",
          "w",
          "srch",
          "srcw",
          "currentImage",
          "currentTransforms",
          "converter",
          "M",
          "splitChannels",
          "filter",
          "canvas");

  /** Which of them are it in one class alone: elsewhere the name says what the user asked for. */
  private static final Set<String> SCRATCH_OF_CLASS = Set.of("FlipImageTransform.mode");

  private final Deque<Object> inside = new ArrayDeque<>();
  private int objects;

  private Description() {}

  /**
   * The words; a checksum instead of very many.
   *
   * @throws CannotShareException if there is a lambda in it, a field that cannot be read, or too
   *     much
   */
  static String of(@Nullable Object object) throws CannotShareException {
    try {
      String text = new Description().describe(object);
      return text.length() <= LONG_TEXT
          ? text
          : text.substring(0, LONG_TEXT / 2)
              + "... with checksum "
              + checksum(text.getBytes(StandardCharsets.UTF_8));
    } catch (IllegalAccessException | RuntimeException e) {
      throw new CannotShareException("pipelines with " + name(object) + " (" + e + ")");
    }
  }

  private String describe(@Nullable Object object)
      throws CannotShareException, IllegalAccessException {
    if (object == null) {
      return "none";
    }
    if (object instanceof CharSequence
        || object instanceof Number
        || object instanceof Boolean
        || object instanceof Character
        || object instanceof URI) {
      return object.toString();
    }
    if (object instanceof File file) {
      return file.getAbsolutePath(); // Jobs may differ in where a relative one begins.
    }
    if (object instanceof Path path) {
      return path.toAbsolutePath().toString();
    }
    if (object instanceof Enum<?> constant) {
      return constant.name();
    }
    if (object instanceof Class<?> type) {
      return type.getName();
    }
    if (object instanceof INDArray array) {
      return array.dataType() + " array of " + checksum(array);
    }
    if (inside.stream().anyMatch(outer -> outer == object)) {
      return "...";
    }
    if (inside.size() == DEEPEST || ++objects > MOST_OBJECTS) {
      throw new CannotShareException("pipelines with objects that refer to too many others");
    }
    inside.push(object);
    try {
      return describeParts(object);
    } finally {
      inside.pop();
    }
  }

  private String describeParts(Object object) throws CannotShareException, IllegalAccessException {
    StringJoiner parts = new StringJoiner(", ", "[", "]");
    if (object.getClass().isArray()) {
      for (int i = 0; i < Array.getLength(object); i++) {
        parts.add(describe(Array.get(object, i)));
      }
      return parts.toString();
    }
    if (object instanceof Map<?, ?> map) {
      String[] entries = new String[map.size()];
      int at = 0;
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        entries[at++] = describe(entry.getKey()) + "=" + describe(entry.getValue());
      }
      Stream.of(entries).sorted().forEach(parts::add);
      return parts.toString();
    }
    if (object instanceof Collection<?> collection) {
      String[] elements = new String[collection.size()];
      int at = 0;
      for (Object element : collection) {
        elements[at++] = describe(element);
      }
      (object instanceof List ? Stream.of(elements) : Stream.of(elements).sorted())
          .forEach(parts::add);
      return parts.toString();
    }
    return describeFields(object);
  }

  private String describeFields(Object object) throws CannotShareException, IllegalAccessException {
    Class<?> type = object.getClass();
    String name = type.getName();
    if (type.isHidden()) {
      throw new CannotShareException("pipelines with lambdas (" + name.replaceAll("/.*", "") + ")");
    }
    if (name.equals("org.bytedeco.opencv.opencv_core.Scalar")) {
      return object.toString();
    }
    if (!(object instanceof AtomicReference)
        && (JdkObjects.tellsNothing(name) || TELLS_NOTHING.stream().anyMatch(name::startsWith))) {
      return name;
    }
    if (JdkObjects.isOfJdk(type)) {
      return describeOfJdk(object);
    }
    boolean library = isLibrary(name);
    StringJoiner fields = new StringJoiner(", ", simple(type) + "(", ")");
    if (!library) {
      try {
        fields.add("class file " + ClassFiles.checksum(type));
      } catch (IOException e) {
        throw new CannotShareException("pipelines with " + name + " (" + e.getMessage() + ")");
      }
      for (Class<?> c = type; c != null && !JdkObjects.isOfJdk(c); c = c.getSuperclass()) {
        for (Field field : isLibrary(c.getName()) ? new Field[0] : c.getDeclaredFields()) {
          if (ClassFiles.isSetting(field)) {
            field.setAccessible(true);
            fields.add(field.getName() + "=" + describe(field.get(null)));
          }
        }
      }
    }
    for (Field field : Members.of(type)) {
      if (!isScratch(field)) {
        fields.add(field.getName() + "=" + describe(field.get(object)));
      }
    }
    return fields.toString();
  }

  private static boolean isScratch(Field field) {
    Class<?> owner = field.getDeclaringClass();
    return java.util.Random.class.isAssignableFrom(field.getType())
        || org.nd4j.linalg.api.rng.Random.class.isAssignableFrom(field.getType())
        || (isLibrary(owner.getName())
            && (SCRATCH.contains(field.getName())
                || SCRATCH_OF_CLASS.contains(owner.getSimpleName() + "." + field.getName())));
  }

  /** Its fields are closed to us. */
  private String describeOfJdk(Object object) throws CannotShareException, IllegalAccessException {
    if (object instanceof AtomicReference<?> reference) {
      return describe(reference.get());
    }
    if (object instanceof Optional<?> optional) {
      return describe(optional.orElse(null));
    }
    if (object instanceof Pattern pattern) {
      return pattern + " " + pattern.flags();
    }
    if (object instanceof Comparable<?>
        || object instanceof Locale
        || object instanceof BitSet
        || object instanceof Color) {
      return object.toString();
    }
    throw new CannotShareException("pipelines with what cannot be compared (" + name(object) + ")");
  }

  private static boolean isLibrary(String name) {
    return Stream.of("org.datavec.", "org.nd4j.", "org.deeplearning4j.").anyMatch(name::startsWith);
  }

  private static String simple(Class<?> type) {
    return isLibrary(type.getName()) ? type.getSimpleName() : type.getName();
  }

  private static String name(@Nullable Object object) {
    return object == null ? "none" : object.getClass().getName();
  }

  private static String checksum(INDArray array) {
    CRC32 crc = new CRC32();
    crc.update(Memory.bytes(array));
    return Arrays.toString(array.shape()) + " " + Long.toHexString(crc.getValue());
  }

  private static String checksum(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return Long.toHexString(crc.getValue());
  }
}
