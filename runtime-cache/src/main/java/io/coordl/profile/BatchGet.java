package io.coordl.profile;

import io.coordl.bridge.InterceptedCall;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** One request of the training thread for a batch. */
class BatchGet extends InterceptedCall {
  final Batches batches;
  final Iterator<?> iterator;

  /** Whether this directly follows another request in the same epoch. */
  final boolean follows;

  /** Nanoseconds since the program got its last batch. */
  final long sinceLast;

  /** A batch taken from the program's iterator but not yet passed to the program. */
  @Nullable Object inHand;

  /** Whether the program gets {@link #inHand} instead of the result of its own call. */
  boolean answered;

  /** Exception that the iterator threw instead of returning a batch. */
  @Nullable Throwable thrown;

  /** Carries an exception of the program's iterator, for the program to see. */
  static final class IteratorThrewException extends RuntimeException {
    private static final long serialVersionUID = 1;

    IteratorThrewException(Throwable cause) {
      super(cause);
    }
  }

  BatchGet(Batches batches, Iterator<?> iterator, boolean follows, long sinceLast) {
    super(null);
    this.batches = batches;
    this.iterator = iterator;
    this.follows = follows;
    this.sinceLast = sinceLast;
  }

  @Override
  public boolean replaced() {
    return answered;
  }

  @Override
  public @Nullable Throwable thrown() {
    return thrown;
  }

  /** Replaces the batch in hand with the next; returns the nanoseconds that the iterator took. */
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
