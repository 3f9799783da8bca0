package io.coordl.bridge;

/** Rewritten calls of {@code System.gc()}: records the caller, then runs the collection. */
public final class GcCalls {
  private GcCalls() {}

  public static void gc() {
    note();
    System.gc();
  }

  public static void gc(Runtime runtime) {
    note();
    runtime.gc();
  }

  private static void note() {
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
