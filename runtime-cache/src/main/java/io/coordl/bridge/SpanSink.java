package io.coordl.bridge;

import org.jspecify.annotations.Nullable;

/**
 * Receives spans. Implementations are called on all threads that run the program's code. They must
 * be safe for concurrent use, and must not block or touch the program's random generators,
 * interrupt flag or workspaces.
 */
public interface SpanSink {
  SpanSink NONE = Nothing.INSTANCE;

  /**
   * Opens a span on this thread; returns a token for {@link #exit}, 0 if the span is not recorded.
   *
   * @param subject what the span is about; recordings show the text of a string, the name of a
   *     class, or the class of any other object
   */
  long enter(SpanKind kind, @Nullable Object subject);

  /**
   * Closes the span of {@code token} and every span still open inside it, as after a call that
   * threw.
   *
   * @param result the value that the method returned or the exception that it threw; null if there
   *     is none, or if the caller omits it
   */
  void exit(long token, @Nullable Object result);

  /**
   * Records a fetch inside the current span.
   *
   * @param startNanos {@link System#nanoTime} before the read
   * @param endNanos {@link System#nanoTime} after it
   */
  void fetchTime(long startNanos, long endNanos);

  /** Notes that this thread has opened an item. */
  void itemOpened(String path);

  /**
   * Records that an opened item was closed.
   *
   * @param startNanos {@link System#nanoTime} at the open
   * @param nanos time spent in open and reads
   * @param bytes bytes read
   * @param origin the farthest source of these bytes
   */
  void itemFetched(String path, long startNanos, long nanos, long bytes, Origin origin);

  /** Whether this thread is loading a sample; a file that it opens is then an item. */
  boolean loadingSample();
}
