package io.coordl.dl4j;

import io.coordl.pipeline.CannotShareException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.impl.FileRecordReader;
import org.datavec.api.records.reader.impl.LineRecordReader;
import org.datavec.image.recordreader.BaseImageRecordReader;
import org.jspecify.annotations.Nullable;

/** The readers of a program's iterator that can be set to any record. */
final class ProgramReaders {
  private static final String DATAVEC = "org.datavec.api.records.reader.impl.";
  private static final String IMAGES = "org.datavec.image.recordreader.";

  private static final Set<String> OF_LINES =
      Set.of(
          DATAVEC + "LineRecordReader",
          DATAVEC + "csv.CSVRecordReader",
          DATAVEC + "misc.SVMLightRecordReader",
          DATAVEC + "misc.LibSvmRecordReader",
          DATAVEC + "regex.RegexLineRecordReader");

  private static final Set<String> OF_FILES =
      Set.of(DATAVEC + "FileRecordReader", DATAVEC + "csv.CSVSequenceRecordReader");

  private static final Set<String> OF_MEMORY =
      Set.of(
          DATAVEC + "collection.CollectionRecordReader",
          DATAVEC + "collection.CollectionSequenceRecordReader",
          DATAVEC + "collection.ListStringRecordReader");

  /** By name: a program without images lacks the classes. */
  private static final Set<String> OF_IMAGES =
      Set.of(IMAGES + "ImageRecordReader", IMAGES + "objdetect.ObjectDetectionRecordReader");

  private static final Set<String> TRANSFORMED =
      Set.of(
          DATAVEC + "transform.TransformProcessRecordReader",
          DATAVEC + "transform.TransformProcessSequenceRecordReader");

  private final ReaderFiles files = new ReaderFiles();

  /**
   * Its readers, by their names.
   *
   * @throws CannotShareException if one of them cannot be set to a record
   */
  Map<String, SeekableReader> of(ProgramIterator program) throws CannotShareException {
    Map<String, SeekableReader> readers = new TreeMap<>();
    for (Map.Entry<String, RecordReader> reader : program.readers().entrySet()) {
      readers.put(reader.getKey(), seekable(reader.getValue()));
    }
    return readers;
  }

  private SeekableReader seekable(RecordReader reader) throws CannotShareException {
    String name = reader.getClass().getName();
    if (TRANSFORMED.contains(name)) {
      RecordReader inner = TransformedReader.innerOf(reader);
      if (!OF_IMAGES.contains(inner.getClass().getName())) {
        return new TransformedReader(reader, seekable(inner), files);
      }
      throw new CannotShareException("a TransformProcess over images");
    }
    SeekableReader seekable;
    if (OF_IMAGES.contains(name)) {
      seekable = new ImageReader((BaseImageRecordReader) reader, files);
    } else if (OF_LINES.contains(name)) {
      seekable = new LineReader((LineRecordReader) reader, files);
    } else if (OF_FILES.contains(name)) {
      seekable = new FileReader((FileRecordReader) reader, files);
    } else if (OF_MEMORY.contains(name)) {
      seekable = new MemoryReader(reader);
    } else {
      throw new CannotShareException("readers of class " + name);
    }
    if (reader.getListeners() != null && !reader.getListeners().isEmpty()) {
      throw new CannotShareException("readers with listeners");
    }
    return seekable;
  }

  /** Of each reader; null if one is in the midst of an epoch, or has no records. */
  static @Nullable List<int[]> orders(Iterable<SeekableReader> readers)
      throws CannotShareException {
    List<int[]> orders = new ArrayList<>();
    for (SeekableReader reader : readers) {
      int[] order = reader.order(0);
      if (order == null || order.length == 0) {
        return null;
      }
      if (!orders.isEmpty() && orders.get(0).length != order.length) {
        throw new CannotShareException("iterators over readers of different numbers of records");
      }
      orders.add(order);
    }
    return orders;
  }
}
