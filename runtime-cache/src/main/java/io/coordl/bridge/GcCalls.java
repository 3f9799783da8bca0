package io.coordl.bridge;

/** Rewritten calls of {@code System.gc()}: who asks is noted, and the collection is made. */
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
      // Some microseconds, before what takes milliseconds.
      StackTraceElement[] stack = new Throwable().getStackTrace();
      if (stack.length > 2) { // This method, the one above, and who called that.
        String caller = stack[2].getClassName() + "." + stack[2].getMethodName();
        Spans.exit(Spans.enter(SpanKind.COLLECTION, caller), null);
      }
    } catch (Throwable t) {
      Bridge.fault("System.gc()", t);
    }
  }
}
