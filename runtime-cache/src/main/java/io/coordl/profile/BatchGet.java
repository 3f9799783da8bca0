package io.coordl.profile;

import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** One call of the training thread for a batch. */
final class BatchGet {
  final Batches batches;
  final Iterator<?> iterator;

  /** Whether it follows another one of the same epoch, with nothing else in between. */
  final boolean follows;

  /** Nanoseconds since the program got its last batch. */
  final long sinceLast;

  /** A batch that the program's iterator has given up and the program has not got. */
  @Nullable Object inHand;

  /** The program's iterator threw what is the program's to see. */
  static final class IteratorThrewException extends RuntimeException {
    private static final long serialVersionUID = 1;

    IteratorThrewException(Throwable cause) {
      super(cause);
    }
  }

  /** What the iterator threw instead. */
  @Nullable Throwable thrown;

  BatchGet(Batches batches, Iterator<?> iterator, boolean follows, long sinceLast) {
    this.batches = batches;
    this.iterator = iterator;
    this.follows = follows;
    this.sinceLast = sinceLast;
  }

  /** The next batch is in hand, and no more the one before; nanoseconds that the iterator took. */
  long advance() {
    inHand = null;
    long start = System.nanoTime();
    try {
      inHand = iterator.next();
    } catch (Throwable t) {
      throw new IteratorThrewException(t);
    }
    long nanos = System.nanoTime() - start;
    if (inHand != null) {
      batches.hold(inHand);
    }
    return nanos;
  }

  boolean hasMore() {
    try {
      return iterator.hasNext();
    } catch (Throwable t) {
      throw new IteratorThrewException(t);
    }
  }
}
