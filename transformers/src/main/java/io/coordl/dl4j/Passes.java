package io.coordl.dl4j;

import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import io.coordl.purity.ClassFiles;
import io.coordl.staging.BatchOrder;
import io.coordl.staging.CoordinatedPass;
import io.coordl.staging.Coordinator;
import io.coordl.staging.Fingerprint;
import io.coordl.thread.AgentThread;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import org.datavec.api.records.reader.RecordReader;
import org.datavec.api.records.reader.impl.FileRecordReader;
import org.datavec.api.records.reader.impl.LineRecordReader;
import org.datavec.image.recordreader.BaseImageRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderMultiDataSetIterator;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.buffer.DataBuffer;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Shares the passes of the library's iterators over its readers, each from its first batch on.
 *
 * <p>At the first batch each reader tells the order of its records ({@link SeekableReader}), and is
 * set to the order that all jobs follow. {@code hasNext()} and everything else of the library then
 * works on that, unaware; {@code next(int)} is answered with a staged batch, or with one that this
 * job makes, and the readers are set behind it. Whatever else happens (the program's code throws,
 * the program asks for another number of examples, takes a record by itself, changes the
 * preprocessor), the library goes on by itself with the records that are left.
 *
 * <p>An iterator of the program's own class, or with a limit, is answered at the one it stands on.
 */
final class Passes {
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

  private final Coordinator coordinator;
  private final Consumer<String> words;
  private final Consumer<String> leave;
  private final String code;
  private final ReaderFiles files = new ReaderFiles();
  private final Cleaner cleaner =
      Cleaner.create(action -> new AgentThread("coordl-passes", action));

  /** Whoever initialises a reader anew in the midst of a pass does not reset the iterator first. */
  private final Map<RecordReader, WeakReference<IteratorPass>> latest = new WeakHashMap<>();

  /**
   * Shares passes.
   *
   * @param declaring the iterator of several arrays
   * @param leave takes what is left alone
   * @throws ReflectiveOperationException if the library is not the one this was compiled against
   * @throws IOException if what makes batches cannot be told
   */
  Passes(Class<?> declaring, Services services, Consumer<String> leave)
      throws ReflectiveOperationException, IOException {
    Symbols.require(INDArray.class, DataBuffer.class, "data");
    Symbols.require(INDArray.class, long[].class, "stride");
    Symbols.require(
        Nd4j.class,
        INDArray.class,
        "create",
        DataBuffer.class,
        long[].class,
        long[].class,
        long.class,
        char.class);
    ProgramIterator.require();
    this.coordinator = Objects.requireNonNull(services.coordinator());
    this.words = services.words();
    this.leave = leave;
    this.code =
        ClassFiles.checksum(declaring, "RecordReaderMultiDataSetIterator")
            + " "
            + ClassFiles.checksum(declaring, "RecordReaderDataSetIterator")
            + " "
            + ClassFiles.checksum(declaring, "SequenceRecordReaderDataSetIterator");
  }

  /** The iterator is about to be reset. */
  void reset(Object iterator) {
    IteratorPass pass = passOf(iterator, readersQuietly(new ProgramIterator(iterator)));
    if (pass != null) {
      pass.end();
    }
  }

  private static @Nullable IteratorPass passOf(
      Object iterator, Map<String, SeekableReader> readers) {
    for (SeekableReader reader : readers.values()) {
      IteratorPass pass = reader.sharedOf(iterator);
      if (pass != null) {
        return pass;
      }
    }
    return null;
  }

  /** The next batch of so many examples; null if the library is to make it. */
  @Nullable Object next(Object iterator, int num) throws ReflectiveOperationException, IOException {
    ProgramIterator program = new ProgramIterator(iterator);
    if (program.hasBatchAtHand()) {
      return null;
    }
    Map<String, SeekableReader> readers;
    try {
      readers = readers(program);
    } catch (CannotShareException e) {
      leave.accept(e.getMessage());
      return null;
    }
    if (readers.values().stream().noneMatch(SeekableReader::hasBegun)) {
      try {
        begin(program, readers, num);
      } catch (CannotShareException e) {
        leave.accept(e.getMessage());
      } catch (Description.Unclear e) {
        leave.accept("pipelines with " + e.getMessage());
      }
    }
    IteratorPass pass = passOf(iterator, readers);
    return pass == null ? null : pass.next(num);
  }

  private Map<String, SeekableReader> readersQuietly(ProgramIterator program) {
    try {
      return readers(program);
    } catch (CannotShareException e) {
      return Map.of();
    }
  }

  private Map<String, SeekableReader> readers(ProgramIterator program) throws CannotShareException {
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
        return new TransformedReader(reader, seekable(inner));
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

  // ---- the beginning of a pass

  private void begin(ProgramIterator program, Map<String, SeekableReader> readers, int num)
      throws ReflectiveOperationException, CannotShareException, Description.Unclear, IOException {
    if (!program.isAnswered()) {
      return; // What it stands on is asked next.
    }
    RecordReaderMultiDataSetIterator arrays = program.arrays();
    if (arrays == null && makeReady(program, readers)) {
      arrays = program.arrays();
      readers = readers(program); // By the names that the arrays are made with.
    }
    if (arrays == null) {
      return;
    }
    if (arrays.isCollectMetaData()) {
      throw new CannotShareException("iterators that collect metadata");
    }
    if (Boolean.TRUE.equals(
        SeekableReader.get(
            SeekableReader.field(RecordReaderMultiDataSetIterator.class, "timeSeriesRandomOffset"),
            arrays))) {
      throw new CannotShareException("iterators that begin time series at random");
    }
    if (num != arrays.getBatchSize()) {
      return;
    }
    List<int[]> own = orders(readers.values());
    if (own != null) {
      share(program, readers, own, num);
    }
  }

  /**
   * What that throws is thrown again when the library does the same, from the same record on.
   *
   * @return false if the library is to do it
   */
  private static boolean makeReady(ProgramIterator program, Map<String, SeekableReader> readers)
      throws CannotShareException {
    List<SeekableReader> all = List.copyOf(readers.values());
    List<int[]> before = orders(all);
    if (before == null || !all.stream().allMatch(reader -> reader.reader().resetSupported())) {
      return false;
    }
    try {
      return program.makeReady();
    } catch (RuntimeException | LinkageError e) {
      for (int i = 0; i < all.size(); i++) {
        all.get(i).begin(before.get(i), null);
      }
      return false;
    }
  }

  /** Of each reader; null if one is in the midst of a pass, or has no records. */
  private static @Nullable List<int[]> orders(Iterable<SeekableReader> readers)
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

  private void share(
      ProgramIterator program, Map<String, SeekableReader> readers, List<int[]> own, int batchSize)
      throws ReflectiveOperationException, Description.Unclear, IOException {
    Fingerprint pipeline = fingerprint(program, readers);
    Pipeline copy = new Pipeline(program, readers, batchSize);
    Preparation preparation = new Preparation(copy, words);
    for (SeekableReader reader : readers.values()) {
      endLatest(reader.reader()); // It works with the same transform.
    }
    CoordinatedPass pass = coordinator.begin(pipeline, together(own, batchSize));
    if (pass == null) {
      return;
    }
    List<int[]> adopted = apart(pass.order(), own.size(), own.get(0).length, batchSize);
    if (adopted == null || !copy.begin(adopted)) {
      pass.end();
      return;
    }
    List<SeekableReader> all = List.copyOf(readers.values());
    IteratorPass shared =
        new IteratorPass(program, all, pass, copy, preparation, batchSize, cleaner);
    for (int i = 0; i < all.size(); i++) {
      all.get(i).begin(adopted.get(i), shared);
      synchronized (latest) {
        latest.put(all.get(i).reader(), new WeakReference<>(shared));
      }
    }
    pass.prepareWith(preparation, 1);
  }

  private void endLatest(RecordReader reader) {
    WeakReference<IteratorPass> before;
    synchronized (latest) {
      before = latest.remove(reader);
    }
    IteratorPass pass = before == null ? null : before.get();
    if (pass != null) {
      pass.end();
    }
  }

  /**
   * One order: each batch has the records of the first reader, then those of the second, whose
   * numbers go on from the first's.
   *
   * @param orders of equal length, of each reader
   */
  static BatchOrder together(List<int[]> orders, int batchSize) {
    int records = orders.get(0).length;
    List<int[]> batches = new ArrayList<>();
    for (int from = 0; from < records; from += batchSize) {
      int size = Math.min(batchSize, records - from);
      int[] batch = new int[orders.size() * size];
      for (int r = 0; r < orders.size(); r++) {
        for (int i = 0; i < size; i++) {
          batch[r * size + i] = Math.addExact(r * records, orders.get(r)[from + i]);
        }
      }
      batches.add(batch);
    }
    return BatchOrder.of(batches);
  }

  /** The orders of {@link #together}; null if the batches are of other sizes. */
  static @Nullable List<int[]> apart(BatchOrder order, int readers, int records, int batchSize) {
    if (order.batches() != (records + batchSize - 1) / batchSize) {
      return null;
    }
    int[][] orders = new int[readers][records];
    for (int k = 0; k < order.batches(); k++) {
      int[] batch = order.items(k);
      int from = k * batchSize;
      int size = Math.min(batchSize, records - from);
      if (batch.length != readers * size) {
        return null;
      }
      for (int r = 0; r < readers; r++) {
        for (int i = 0; i < size; i++) {
          orders[r][from + i] = batch[r * size + i] - r * records;
        }
      }
    }
    return Arrays.asList(orders);
  }

  private Fingerprint fingerprint(ProgramIterator program, Map<String, SeekableReader> readers)
      throws Description.Unclear, ReflectiveOperationException, IOException {
    Map<String, String> parts = new LinkedHashMap<>();
    for (Map.Entry<String, SeekableReader> reader : readers.entrySet()) {
      reader.getValue().describe(parts, readers.size() == 1 ? "" : reader.getKey() + ": ");
    }
    program.describe(parts);
    parts.put("data type", Nd4j.dataType().toString());
    parts.put("code of DL4J", code);
    return new Fingerprint(parts);
  }
}
