package io.coordl.library.dl4j;

import io.coordl.coordination.BatchOrder;
import io.coordl.coordination.Fingerprint;
import io.coordl.coordination.NotPreparedException;
import io.coordl.coordination.PreparedBatch;
import io.coordl.pipeline.CannotShareException;
import io.coordl.pipeline.LibraryEpoch;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.datavec.api.records.reader.RecordReader;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.memory.MemoryWorkspace;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Copies of the program's readers and iterator that can prepare any batch of an epoch. They run the
 * library's own code with everything that the program configured (transform, labels and, if
 * requested, preprocessor), but can seek to any batch. The program's own readers and iterator are
 * neither read nor changed, so the program may reset, initialise or use them at any time. Prepares
 * one batch at a time, because transforms and preprocessors need not be thread-safe.
 */
final class ReaderPipeline implements LibraryEpoch {
  private final List<WeakReference<RecordReader>> own = new ArrayList<>();
  private final List<SeekableReader> readers = new ArrayList<>();
  private final ProgramIterator iterator;
  private final Fingerprint fingerprint;
  private final int batchSize;
  private final Integer device = Nd4j.getAffinityManager().getDeviceForCurrentThread();

  /**
   * Null if the program may hold the arrays that this pipeline creates: the program gets them, or
   * its own code runs in the pipeline.
   */
  private final @Nullable Scopes scopes;

  private List<int[]> orders;

  /**
   * Creates the copies. Called on a thread of the program; the arrays use the device of that
   * thread.
   *
   * @param epoch the epoch that the program is about to begin
   * @param preprocesses whether to run the program's preprocessor
   */
  ReaderPipeline(ProgramEpoch epoch, Fingerprint fingerprint, boolean preprocesses) {
    this.orders = epoch.orders();
    this.batchSize = epoch.batchSize();
    this.fingerprint = fingerprint;
    Map<String, RecordReader> copies = new HashMap<>();
    for (Map.Entry<String, SeekableReader> reader : epoch.readers().entrySet()) {
      SeekableReader copy = reader.getValue().copy();
      own.add(new WeakReference<>(reader.getValue().reader()));
      readers.add(copy);
      copies.put(reader.getKey(), copy.reader());
    }
    ProgramIterator copy = epoch.program().copy(copies);
    iterator = preprocesses ? copy : copy.removePreprocessor();
    scopes = preprocesses && !OwnCode.isIn(epoch) ? new Scopes() : null;
  }

  /** Returns the copied iterator. */
  @Override
  public Object dataset() {
    return iterator.wrapped();
  }

  @Override
  public Object settings() {
    return fingerprint; // Nothing else: the program cannot change the copies.
  }

  @Override
  public Object make(int batch) {
    readers.forEach(reader -> reader.seek(batch * batchSize));
    return iterator.next(batchSize);
  }

  /** Sets the readers to the start of the epoch, in its current order. */
  @Override
  public boolean begin() {
    for (int i = 0; i < readers.size(); i++) {
      if (!readers.get(i).begin(orders.get(i), null)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public @Nullable Key identify(int batch) {
    Key records = Key.NONE;
    for (int i = 0; i < readers.size() && records != null; i++) {
      int[] order = orders.get(i);
      DataFiles files = readers.get(i).files();
      records =
          files == null
              ? null
              : files.identify(order, batch * batchSize, end(order, batch), records);
    }
    return records;
  }

  /** Returns the absolute paths of the files of a batch that {@link #identify} has identified. */
  Set<String> paths(int batch) {
    Set<String> paths = new HashSet<>();
    for (int i = 0; i < readers.size(); i++) {
      DataFiles files = readers.get(i).files();
      if (files != null) {
        files.addPaths(orders.get(i), batch * batchSize, end(orders.get(i), batch), paths);
      }
    }
    return paths;
  }

  private int end(int[] order, int batch) {
    return Math.min(order.length, (batch + 1) * batchSize);
  }

  /** Returns the adopted order of each reader. */
  List<int[]> orders() {
    return orders;
  }

  @Override
  public Fingerprint fingerprint() {
    return fingerprint;
  }

  @Override
  public BatchOrder order() {
    return combine(orders, batchSize);
  }

  @Override
  public boolean follow(BatchOrder order) {
    List<int[]> adopted = split(order, orders.size(), orders.get(0).length, batchSize);
    if (adopted == null) {
      return false;
    }
    List<int[]> own = orders;
    orders = adopted;
    if (begin()) {
      return true;
    }
    orders = own;
    return false;
  }

  /**
   * Combines orders into one: each batch has the records of the first reader, then those of the
   * second, whose numbers continue after the first's.
   *
   * @param orders one per reader, of equal length
   */
  static BatchOrder combine(List<int[]> orders, int batchSize) {
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

  /** Splits an order that {@link #combine} made; null if its batches have other sizes. */
  static @Nullable List<int[]> split(BatchOrder order, int readers, int records, int batchSize) {
    if (order.batches() != BatchOrder.batches(records, batchSize)) {
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

  @Override
  public PreparedBatch prepare(int batch, int[] samples) throws Exception {
    enterThread();
    Scopes open = scopes;
    if (open == null) {
      return bytesOf(makeFor(batch), () -> {});
    }
    MemoryWorkspace scope = open.enter();
    try {
      return bytesOf(makeFor(batch), () -> open.leave(scope));
    } catch (Throwable t) {
      open.leave(scope);
      throw t;
    }
  }

  @Override
  public void enterThread() {
    Nd4j.getAffinityManager().unsafeSetDevice(device);
  }

  private Object makeFor(int batch) throws NotPreparedException {
    try {
      return make(batch);
    } catch (Exception e) {
      throw new NotPreparedException(e);
    }
  }

  private static BatchBytes bytesOf(Object batch, Runnable done) throws CannotShareException {
    try {
      return new BatchBytes(batch, done);
    } catch (IllegalArgumentException e) {
      throw new CannotShareException("a batch that is more than arrays (" + e.getMessage() + ")");
    }
  }

  @Override
  public Object readStaged(ByteBuffer staged) throws IOException {
    return BatchBytes.copiedOfStaged(staged);
  }

  @Override
  public boolean uses(Object part) {
    return part instanceof RecordReader reader
        && own.stream().anyMatch(mine -> mine.refersTo(reader));
  }

  @Override
  public void ended() {
    if (scopes != null) {
      scopes.end();
    }
    readers.forEach(SeekableReader::close); // Their files are opened again when needed.
  }
}
