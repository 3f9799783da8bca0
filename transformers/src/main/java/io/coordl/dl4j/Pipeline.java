package io.coordl.dl4j;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.datavec.api.records.reader.RecordReader;

/**
 * The program's readers and iterator once more, to make any batch of a pass: the library's own code
 * with all that the program gave it (transform, labels, preprocessor), but set to the batch of our
 * choice. What the program has is neither read nor changed meanwhile, so it may reset, initialise
 * or ask its own as it likes. Thread-safe; makes one batch at a time, since transforms and
 * preprocessors need not stand more.
 */
final class Pipeline {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final ReentrantLock lock = new ReentrantLock();
  private final List<SeekableReader> readers = new ArrayList<>();
  private final ProgramIterator iterator;
  private final int batchSize;

  /**
   * A copy; its pass is yet to {@link #begin}.
   *
   * @param program whose it is
   * @param own its readers, by their names
   * @param batchSize records of each reader in each batch but the last one
   */
  Pipeline(ProgramIterator program, Map<String, SeekableReader> own, int batchSize)
      throws ReflectiveOperationException {
    this.batchSize = batchSize;
    Map<String, RecordReader> copies = new HashMap<>();
    for (Map.Entry<String, SeekableReader> reader : own.entrySet()) {
      SeekableReader copy = reader.getValue().copy();
      readers.add(copy);
      copies.put(reader.getKey(), copy.reader());
    }
    iterator = program.copy(copies);
  }

  /**
   * Begins a pass in these orders, one for each reader; false if one is no order of its records.
   */
  boolean begin(List<int[]> orders) {
    boolean begun = true;
    for (int i = 0; begun && i < readers.size(); i++) {
      begun = readers.get(i).begin(orders.get(i), null);
    }
    return begun;
  }

  /** The batch of that number; throws what the program's code throws. */
  Object make(int batch) {
    lock();
    try {
      readers.forEach(reader -> reader.seek(batch * batchSize));
      return iterator.next(batchSize);
    } finally {
      lock.unlock();
    }
  }

  /** An interrupt neither ends the wait nor is lost; whoever hangs in there is not waited for. */
  private void lock() {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    boolean interrupted = false;
    boolean got = false;
    long left;
    while (!got && (left = deadline - System.nanoTime()) > 0) {
      try {
        got = lock.tryLock(left, TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (!got) {
      throw new IllegalStateException("another thread hangs in the pipeline");
    }
  }
}
