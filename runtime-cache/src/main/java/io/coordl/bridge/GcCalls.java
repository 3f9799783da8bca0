package io.coordl.bridge;

/** Replaces {@code System.gc()} and {@code Runtime.gc()}: records the caller, then collects. */
public final class GcCalls {
  private GcCalls() {}

  public static void gc() {
    recordCaller();
    System.gc();
  }

  public static void gc(Runtime runtime) {
    recordCaller();
    runtime.gc();
  }

  private static void recordCaller() {
    try {
      // Costs microseconds; the collection takes milliseconds.
      StackTraceElement[] stack = new Throwable().getStackTrace();
      if (stack.length > 2) { // This method, gc(), and its caller.
        String caller = stack[2].getClassName() + "." + stack[2].getMethodName();
        Spans.exit(Spans.enter(SpanKind.COLLECTION, caller), null);
      }
    } catch (Throwable t) {
      Bridge.fault("System.gc()", t);
    }
  }
}
