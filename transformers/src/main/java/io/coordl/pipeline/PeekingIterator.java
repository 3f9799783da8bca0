package io.coordl.pipeline;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An iterator that has taken some elements already when its user asks for them, so that they are
 * known before they are used. For iterators only whose steps have no effect but to step. Used by
 * one thread at a time, as the iterator itself.
 */
public final class PeekingIterator<T> implements Iterator<T> {
  private final Iterator<T> own;
  private final int most;
  private final Consumer<? super T> listener;
  private final Queue<T> peeked = new ArrayDeque<>();

  private @Nullable Object companion;

  /** What the iterator threw, to be thrown where its user would have met it. */
  private @Nullable RuntimeException failure;

  /**
   * Peeks, for the first time at once.
   *
   * @param most elements that are taken and not yet used
   * @param listener hears of each element when it is taken; must not throw
   */
  public PeekingIterator(Iterator<T> own, int most, Consumer<? super T> listener) {
    this.own = own;
    this.most = most;
    this.listener = listener;
    look();
  }

  private void look() {
    while (failure == null && peeked.size() < most) {
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

  /** What {@link #next} will return; null if that is nothing, or an exception. */
  public @Nullable T peek() {
    return peeked.peek();
  }

  public @Nullable Object companion() {
    return companion;
  }

  /** Keeps an object for as long as this iterator lives. */
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
      return own.next(); // Or what it does at its end.
    }
    look();
    return element;
  }
}
