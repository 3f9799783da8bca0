package io.coordl.bridge;

import java.util.Iterator;

/** An iterable whose iterators mark each ask and take; all else is the program's own. */
final class TimedIterable<T> implements Iterable<T> {
  private final Iterable<T> batches;

  TimedIterable(Iterable<T> batches) {
    this.batches = batches;
  }

  @Override
  public Iterator<T> iterator() {
    return new TimedIterator<>(batches.iterator());
  }

  private static final class TimedIterator<T> implements Iterator<T> {
    private final Iterator<T> batches;

    TimedIterator(Iterator<T> batches) {
      this.batches = batches;
    }

    @Override
    public boolean hasNext() {
      long span = Spans.enter(SpanKind.ASK, this);
      Boolean answer = null;
      try {
        answer = batches.hasNext();
        return answer;
      } finally {
        Spans.exit(span, answer);
      }
    }

    @Override
    public T next() {
      long span = Spans.enter(SpanKind.TAKE, this);
      T batch = null;
      try {
        batch = batches.next();
        return batch;
      } finally {
        Spans.exit(span, batch);
      }
    }

    @Override
    public void remove() {
      batches.remove();
    }
  }
}
