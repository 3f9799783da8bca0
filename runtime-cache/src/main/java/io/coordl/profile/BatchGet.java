package io.coordl.profile;

import io.coordl.bridge.InterceptedCall;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** One call of the training thread for a batch. */
class BatchGet extends InterceptedCall {
  final Batches batches;
  final Iterator<?> iterator;

  /** Whether it follows another one of the same epoch, with nothing else in between. */
  final boolean follows;

  /** Nanoseconds since the program got its last batch. */
  final long sinceLast;

  /** A batch that the program's iterator has given up and the program has not got. */
  @Nullable Object inHand;

  /** Whether the program gets the batch in hand, and its own call does not run. */
  boolean answered;

  /** What the iterator threw instead. */
  @Nullable Throwable thrown;

  /** The program's iterator threw what is the program's to see. */
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
