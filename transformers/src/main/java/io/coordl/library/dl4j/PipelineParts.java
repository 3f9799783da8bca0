package io.coordl.library.dl4j;

import io.coordl.library.Symbols;
import io.coordl.staging.Fingerprint;
import java.lang.reflect.Field;
import java.util.LinkedHashMap;
import java.util.Map;
import org.datavec.image.recordreader.BaseImageRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.jspecify.annotations.Nullable;

/** What the batches of an iterator over images are made of and with, part by part. */
final class PipelineParts {
  private PipelineParts() {}

  /**
   * The parts.
   *
   * @param iterator the program's, of either class
   * @param arrays what makes its batches, perhaps itself
   * @param images in words
   * @param dataType of arrays that the library makes
   * @param code of the library in words
   * @throws Description.Unclear if a part cannot be described
   */
  static Fingerprint of(
      Object iterator,
      BaseImageRecordReader reader,
      RecordReaderMultiDataSetIterator arrays,
      String images,
      String dataType,
      String code)
      throws Description.Unclear {
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("iterator", iterator.getClass().getSimpleName());
    parts.put("images", images);
    parts.put("reader", reader.getClass().getSimpleName());
    for (Field own : reader.getClass().getDeclaredFields()) {
      if (!own.getName().startsWith("current")) {
        parts.put(own.getName(), part(reader.getClass(), reader, own.getName()));
      }
    }
    parts.put("batch size", Integer.toString(arrays.getBatchSize()));
    parts.put(
        "image size (channels x height x width)",
        part(reader, "channels") + "x" + part(reader, "height") + "x" + part(reader, "width"));
    parts.put("channels first", Boolean.toString(reader.isNchw_channels_first()));
    parts.put("image transform", part(reader, "imageTransform"));
    parts.put("labels", Description.of(reader.getLabels()));
    parts.put("label generator", part(reader, "labelGenerator"));
    parts.put("generator of several labels", part(reader, "labelMultiGenerator"));
    parts.put("labels in batches", part(reader, "appendLabel") + ", " + part(reader, "writeLabel"));
    parts.put(
        "arrays",
        part(RecordReaderMultiDataSetIterator.class, arrays, "inputs")
            + " and "
            + part(RecordReaderMultiDataSetIterator.class, arrays, "outputs"));
    if (iterator instanceof RecordReaderDataSetIterator) {
      Class<?> type = RecordReaderDataSetIterator.class;
      parts.put(
          "label columns",
          part(type, iterator, "labelIndex") + " to " + part(type, iterator, "labelIndexTo"));
      parts.put("classes", part(type, iterator, "numPossibleLabels"));
      parts.put("regression", part(type, iterator, "regression"));
      parts.put("inner preprocessor", Description.of(arrays.getPreProcessor()));
    }
    parts.put("preprocessor", Description.of(preprocessorOf(iterator)));
    parts.put("data type", dataType);
    parts.put("code of DL4J", code);
    return new Fingerprint(parts);
  }

  private static String part(BaseImageRecordReader reader, String name) throws Description.Unclear {
    return part(BaseImageRecordReader.class, reader, name);
  }

  private static String part(Class<?> owner, Object object, String name)
      throws Description.Unclear {
    try {
      return Description.of(Symbols.field(owner, name).get(object));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The preprocessor that the iterator has now. */
  static @Nullable Object preprocessorOf(Object iterator) {
    return iterator instanceof RecordReaderDataSetIterator one
        ? one.getPreProcessor()
        : ((RecordReaderMultiDataSetIterator) iterator).getPreProcessor();
  }
}
