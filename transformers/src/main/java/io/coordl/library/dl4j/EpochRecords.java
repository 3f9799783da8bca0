package io.coordl.library.dl4j;

import java.util.Iterator;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The elements of a reader's epoch (files, lines, records in memory) by their places in its order.
 * Replaces the library's own iterator in a reader of the program or of a {@link ReaderPipeline}.
 * Iterates over the elements not yet taken, so that the library's own code can continue at any
 * time. Like that iterator, used by one thread at a time.
 */
final class EpochRecords<T> implements Iterator<T> {
  private final IntFunction<T> records;
  private final @Nullable IteratorEpoch shared;
  private final Iterator<? extends T> library;
  private int next;
  private int end;

  /**
   * @param records returns the record at a place; places start at 0
   * @param end number of records
   * @param shared the epoch, if the agent supplies its batches; null if the library supplies them
   * @param library the replaced iterator, at its end; its own exception reports that there is no
   *     next element
   */
  EpochRecords(
      IntFunction<T> records,
      int end,
      @Nullable IteratorEpoch shared,
      Iterator<? extends T> library) {
    this.library = library;
    this.records = records;
    this.end = end;
    this.shared = shared;
  }

  /** Returns the epoch whose batches the agent supplies, if it belongs to this iterator. */
  @Nullable IteratorEpoch sharedOf(Object iterator) {
    return shared != null && shared.isOf(iterator) ? shared : null;
  }

  @Override
  public boolean hasNext() {
    return next < end;
  }

  @Override
  public T next() {
    return hasNext() ? records.apply(next++) : library.next();
  }

  /** Returns the place of the next element. */
  int place() {
    return next;
  }

  /** Continues at {@code from}, and ends before {@code to}. */
  void moveTo(int from, int to) {
    next = from;
    end = to;
  }
}
