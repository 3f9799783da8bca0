package io.coordl.bridge;

import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * Static methods that rewritten code calls to record spans. They never throw: {@link Bridge#fault}
 * counts a fault in the sink, and the program continues. A span costs two clock reads (about 25 ns
 * each) and no allocation.
 */
public final class Spans {
  private Spans() {}

  public static long enter(SpanKind kind, @Nullable Object subject) {
    try {
      return Bridge.sink().enter(kind, subject);
    } catch (Throwable t) {
      Bridge.fault("span enter", t);
      return 0;
    }
  }

  public static void exit(long token, @Nullable Object result) {
    if (token == 0) {
      return;
    }
    try {
      Bridge.sink().exit(token, result);
    } catch (Throwable t) {
      Bridge.fault("span exit", t);
    }
  }

  /**
   * Wraps the batches of a data set, so that each {@code hasNext} and {@code next} is a span. Wraps
   * only lambdas and other hidden classes: the program may cast a collection to its own type, and
   * named iterators get their spans where they are declared.
   */
  public static @Nullable Iterable<?> timed(@Nullable Iterable<?> batches) {
    if (batches == null) {
      return null;
    }
    boolean nothingElse = batches.getClass().isHidden() && !(batches instanceof Iterator);
    return nothingElse ? new TimedIterable<>(batches) : batches;
  }

  static void fetchTime(long startNanos, long endNanos) {
    try {
      Bridge.sink().fetchTime(startNanos, endNanos);
    } catch (Throwable t) {
      Bridge.fault("fetch time", t);
    }
  }

  static void itemOpened(String path) {
    try {
      Bridge.sink().itemOpened(path);
    } catch (Throwable t) {
      Bridge.fault("item opened", t);
    }
  }

  static void itemFetched(String path, long startNanos, long nanos, long bytes, Origin origin) {
    try {
      Bridge.sink().itemFetched(path, startNanos, nanos, bytes, origin);
    } catch (Throwable t) {
      Bridge.fault("item fetched", t);
    }
  }
}
