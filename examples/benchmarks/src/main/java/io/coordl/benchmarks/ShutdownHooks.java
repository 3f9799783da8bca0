package io.coordl.benchmarks;

/** Shutdown hooks that clean up after a benchmark. */
final class ShutdownHooks {
  private ShutdownHooks() {}

  /** Removes a hook whose work is done; does nothing while the JVM exits. */
  static void remove(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // This JVM is exiting, and the hook is already running.
    }
  }
}
