package io.coordl.dl4j;

import io.coordl.pipeline.ObjectSnapshot;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells whether code of the program runs while batches are made. */
final class OwnCode {
  private OwnCode() {}

  /**
   * Whether it does.
   *
   * @param preprocessor of the iterator, whose parts may be the program's too
   */
  static boolean isIn(@Nullable Object preprocessor, Collection<SeekableReader> readers) {
    List<Object> parts = new ArrayList<>();
    if (preprocessor != null) {
      parts.add(preprocessor);
    }
    readers.forEach(reader -> addGenerators(reader.reader(), parts));
    return parts.stream().anyMatch(OwnCode::hasOwn);
  }

  /** What makes labels of names. */
  private static void addGenerators(Object reader, List<Object> parts) {
    for (Class<?> type = reader.getClass(); type != null; type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers())
            && isOfLibrary(type)
            && field.getType().getName().endsWith("Generator")) {
          Object generator = SeekableReader.field(type, field.getName()).get(reader);
          if (generator != null) {
            parts.add(generator);
          }
        }
      }
    }
  }

  private static boolean hasOwn(Object part) {
    Collection<Class<?>> classes =
        ObjectSnapshot.classes(
            part, type -> !isOfLibrary(type) || type.getName().contains(".preprocessor."));
    return classes == null || !classes.stream().allMatch(OwnCode::isOfLibrary);
  }

  private static boolean isOfLibrary(Class<?> type) {
    return Description.isOfLibrary(type.getName());
  }
}
