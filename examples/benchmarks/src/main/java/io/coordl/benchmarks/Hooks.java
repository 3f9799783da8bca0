package io.coordl.benchmarks;

/** What a benchmark that is stopped takes down. */
final class Hooks {
  private Hooks() {}

  /** For what has been taken down; at the exit itself it does nothing. */
  static void remove(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // This JVM is ending, and the hook runs already.
    }
  }
}
