package io.coordl.bridge;

import java.lang.StackWalker.StackFrame;
import java.util.stream.Stream;

/** Rewritten calls of {@code System.gc()}: who asks is noted, and the collection is made. */
public final class GcCalls {
  private static final StackWalker STACK = StackWalker.getInstance();

  private GcCalls() {}

  /** {@link System#gc}. */
  public static void gc() {
    note();
    System.gc();
  }

  /** {@link Runtime#gc}. */
  public static void gc(Runtime runtime) {
    note();
    runtime.gc();
  }

  private static void note() {
    try {
      Spans.exit(Spans.enter(SpanKind.COLLECTION, STACK.walk(GcCalls::caller)), null);
    } catch (Throwable t) {
      Bridge.fault("System.gc()", t);
    }
  }

  private static String caller(Stream<StackFrame> frames) {
    return frames
        .filter(frame -> !frame.getClassName().equals(GcCalls.class.getName()))
        .findFirst()
        .map(frame -> frame.getClassName() + "." + frame.getMethodName())
        .orElse("");
  }
}
