package io.coordl.bridge;

import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * What rewritten methods call to mark the way of a sample. Never throws: a fault in the sink is
 * counted by {@link Bridge#fault} and the program goes on. A span costs two clock readings (about
 * 25 ns each) and no allocation.
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
   * The batches of a data set, each {@code hasNext} and {@code next} marked. Only what is nothing
   * but an iterable is wrapped, a lambda above all: a collection may be cast to what it is, and
   * named iterators are marked where they are declared.
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

  static void itemFetched(String path, long startNanos, long nanos, long bytes, Origin origin) {
    try {
      Bridge.sink().itemFetched(path, startNanos, nanos, bytes, origin);
    } catch (Throwable t) {
      Bridge.fault("item fetched", t);
    }
  }
}
