package io.coordl.library.dl4j;

import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.ObjectDescription;
import io.coordl.pipeline.ObjectSnapshot;
import io.coordl.purity.JdkObjects;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.datavec.api.split.InputSplit;

/** Detects code of the program that runs while batches are prepared. */
final class OwnCode {
  private OwnCode() {}

  /** Whether readers or the preprocessor, or their parts, run code of the program. */
  static boolean isIn(ProgramEpoch epoch) {
    Object preprocessor = epoch.program().preprocessor();
    return !of(epoch.readers().values()).isEmpty()
        || (preprocessor != null && hasOwn(preprocessor));
  }

  /** Returns the objects of the program that the library's readers use, except lists of files. */
  static List<Object> of(Collection<SeekableReader> readers) {
    List<Object> parts = new ArrayList<>();
    for (SeekableReader reader : readers) {
      Class<?> type = reader.reader().getClass();
      for (LibraryField<Object> field :
          LibraryField.all(type, Object.class, field -> isOfLibrary(field.getType()))) {
        Object part = field.get(reader.reader());
        if (part != null && isOwn(part.getClass())) {
          parts.add(part);
        }
      }
    }
    return parts;
  }

  private static boolean isOwn(Class<?> type) {
    return !JdkObjects.isOfJdk(type)
        && !isOfLibrary(type)
        && !InputSplit.class.isAssignableFrom(type)
        && !ObjectDescription.startsWith(type.getName(), "org.slf4j.", "org.bytedeco.");
  }

  private static boolean hasOwn(Object part) {
    Collection<Class<?>> classes =
        ObjectSnapshot.classes(part, type -> !isOfLibrary(type) || isPreprocessor(type.getName()));
    return classes == null || !classes.stream().allMatch(OwnCode::isOfLibrary);
  }

  /** Some preprocessors of the library combine others. */
  private static boolean isPreprocessor(String name) {
    return name.contains(".preprocessor.") || name.endsWith("PreProcessor");
  }

  private static boolean isOfLibrary(Class<?> type) {
    return Description.isOfLibrary(type.getName());
  }
}
