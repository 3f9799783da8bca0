package io.coordl.bridge;

import java.util.Iterator;

/** An iterable whose iterators record a span per {@code hasNext} and {@code next}. */
record TimedIterable<T>(Iterable<T> batches) implements Iterable<T> {
  @Override
  public Iterator<T> iterator() {
    return new TimedIterator<>(batches.iterator());
  }

  private record TimedIterator<T>(Iterator<T> batches) implements Iterator<T> {
    @Override
    public boolean hasNext() {
      long span = Spans.enter(SpanKind.ASK, this);
      Object answer = null;
      try {
        boolean more = batches.hasNext();
        answer = more;
        return more;
      } catch (Throwable t) {
        answer = t;
        throw t;
      } finally {
        Spans.exit(span, answer);
      }
    }

    @Override
    public T next() {
      long span = Spans.enter(SpanKind.TAKE, this);
      Object taken = null;
      try {
        T batch = batches.next();
        taken = batch;
        return batch;
      } catch (Throwable t) {
        taken = t;
        throw t;
      } finally {
        Spans.exit(span, taken);
      }
    }

    @Override
    public void remove() {
      batches.remove();
    }
  }
}
