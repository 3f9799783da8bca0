package io.coordl.library.dl4j;

import io.coordl.pipeline.CannotShareException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.impl.FileRecordReader;
import org.datavec.api.records.reader.impl.LineRecordReader;
import org.datavec.image.recordreader.BaseImageRecordReader;
import org.jspecify.annotations.Nullable;

/** Creates a {@link SeekableReader} for each reader of the program, and remembers its files. */
final class ProgramReaders {
  private static final String DATAVEC = "org.datavec.api.records.reader.impl.";
  private static final String IMAGES = "org.datavec.image.recordreader.";

  private final Map<RecordReader, ReaderFiles> known =
      Collections.synchronizedMap(new WeakHashMap<>());

  private final LineIndices lines = new LineIndices();

  /**
   * Returns the iterator's readers, by name.
   *
   * @throws CannotShareException if one cannot seek to a record, or has several names: each name
   *     then takes the records that follow those of the previous name
   */
  Map<String, SeekableReader> of(ProgramIterator program) throws CannotShareException {
    Map<String, SeekableReader> readers = new TreeMap<>();
    Set<RecordReader> found = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Map.Entry<String, RecordReader> entry : program.readers().entrySet()) {
      SeekableReader reader = seekable(entry.getValue());
      if (!reader.readers().allMatch(found::add)) {
        throw new CannotShareException("iterators that use one reader under several names");
      }
      readers.put(entry.getKey(), reader);
    }
    return readers;
  }

  /** Called when the library has opened the first file of a reader. */
  void opened(RecordReader reader) {
    try {
      seekable(reader).opened();
    } catch (CannotShareException e) {
      return; // The library may open any file for batches that it prepares itself.
    }
  }

  /** Selects by class name, because a program without images may lack the image classes. */
  private SeekableReader seekable(RecordReader reader) throws CannotShareException {
    ReaderFiles files = known.computeIfAbsent(reader, any -> new ReaderFiles(lines));
    String name = reader.getClass().getName();
    if (name.equals(DATAVEC + "transform.TransformProcessRecordReader")
        || name.equals(DATAVEC + "transform.TransformProcessSequenceRecordReader")) {
      SeekableReader inner = seekable(TransformedReader.innerOf(reader));
      if (inner.reader().getClass().getName().startsWith(IMAGES)) {
        throw new CannotShareException("a TransformProcess over images");
      }
      return new TransformedReader(reader, inner, files);
    }
    SeekableReader seekable =
        switch (name) {
          case IMAGES + "ImageRecordReader", IMAGES + "objdetect.ObjectDetectionRecordReader" ->
              new ImageReader((BaseImageRecordReader) reader, files);
          case DATAVEC + "LineRecordReader",
              DATAVEC + "csv.CSVRecordReader",
              DATAVEC + "csv.CSVRegexRecordReader",
              DATAVEC + "csv.CSVLineSequenceRecordReader",
              DATAVEC + "misc.SVMLightRecordReader",
              DATAVEC + "misc.LibSvmRecordReader",
              DATAVEC + "regex.RegexLineRecordReader" ->
              new LineReader((LineRecordReader) reader, files);
          case DATAVEC + "FileRecordReader",
              DATAVEC + "csv.CSVSequenceRecordReader",
              DATAVEC + "regex.RegexSequenceRecordReader" ->
              new FileReader((FileRecordReader) reader, files);
          case DATAVEC + "collection.CollectionRecordReader",
              DATAVEC + "collection.CollectionSequenceRecordReader",
              DATAVEC + "collection.ListStringRecordReader" ->
              new MemoryReader(reader);
          default -> throw new CannotShareException("readers of class " + name);
        };
    if (reader.getListeners() != null && !reader.getListeners().isEmpty()) {
      throw new CannotShareException("readers with listeners");
    }
    return seekable;
  }

  /**
   * Returns the order of the epoch of each reader; null if one has not taken exactly {@code taken}
   * records of its epoch, or has no records.
   */
  static @Nullable List<int[]> orders(Iterable<SeekableReader> readers, int taken)
      throws CannotShareException {
    List<int[]> orders = new ArrayList<>();
    for (SeekableReader reader : readers) {
      int[] order = reader.order(taken);
      if (order == null || order.length == 0) {
        return null;
      }
      if (!orders.isEmpty() && orders.get(0).length != order.length) {
        throw new CannotShareException("iterators over readers with different numbers of records");
      }
      orders.add(order);
    }
    return orders;
  }
}
