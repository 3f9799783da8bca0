package io.coordl.pipeline;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An iterator that reads some elements ahead of their use. Only for iterators whose steps have no
 * side effects. Like any iterator, used by one thread at a time.
 */
public final class PeekingIterator<T> implements Iterator<T> {
  private final Iterator<T> own;
  private final int maxAhead;
  private final Consumer<? super T> listener;
  private final Queue<T> peeked = new ArrayDeque<>();

  private @Nullable Object companion;

  /** The wrapped iterator's exception; thrown when {@link #next} reaches its place. */
  private @Nullable RuntimeException failure;

  /**
   * Starts reading ahead immediately.
   *
   * @param maxAhead maximum number of elements to read ahead
   * @param listener receives each element read; must not throw
   */
  public PeekingIterator(Iterator<T> own, int maxAhead, Consumer<? super T> listener) {
    this.own = own;
    this.maxAhead = maxAhead;
    this.listener = listener;
    readAhead();
  }

  private void readAhead() {
    while (failure == null && peeked.size() < maxAhead) {
      T element;
      try {
        if (!own.hasNext()) {
          return;
        }
        element = own.next();
      } catch (RuntimeException e) {
        failure = e;
        return;
      }
      peeked.add(element);
      listener.accept(element);
    }
  }

  /** Returns the result of the next call of {@link #next}; null if it has none, or throws. */
  public @Nullable T peek() {
    return peeked.peek();
  }

  public @Nullable Object companion() {
    return companion;
  }

  /** Keeps an object reachable as long as this iterator. */
  public void accompany(Object newCompanion) {
    companion = newCompanion;
  }

  @Override
  public boolean hasNext() {
    return !peeked.isEmpty() || failure != null || own.hasNext();
  }

  @Override
  public T next() {
    T element = peeked.poll();
    if (element == null) {
      RuntimeException thrown = failure;
      failure = null;
      if (thrown != null) {
        throw thrown;
      }
      return own.next(); // At its end, the iterator behaves as without the agent.
    }
    readAhead();
    return element;
  }
}
