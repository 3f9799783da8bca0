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
