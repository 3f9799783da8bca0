package io.coordl.library.dl4j;

import java.util.Iterator;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * What a reader goes through in one epoch (files, lines, records in memory), by their places in its
 * order; stands in the reader of the program, or of a {@link ReaderPipeline}, in the place of the
 * library's own iterator. It goes on with what has not been taken yet: so the library's own code
 * can go on at any time. Used by one thread at a time, as what it stands for.
 */
final class EpochRecords<T> implements Iterator<T> {
  private final IntFunction<T> records;
  private final @Nullable IteratorEpoch shared;
  private final Iterator<? extends T> library;
  private int next;
  private int end;

  /**
   * @param records by their places, from 0 on
   * @param end how many there are
   * @param shared the epoch that other jobs go through too; null if the library does by itself
   * @param library what this stands for, at its end: it says in its words that there is no other
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

  /** The epoch, if it is shared and of that iterator. */
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

  /** The place of the one that comes next. */
  int place() {
    return next;
  }

  /** From now on it goes from one place to another, which is not included. */
  void moveTo(int from, int to) {
    next = from;
    end = to;
  }
}
