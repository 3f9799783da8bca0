package io.coordl.host;

import io.coordl.telemetry.event.Figures;

/**
 * Kernel figures about CPU time and waits for cores: cumulative totals in nanoseconds. Figures that
 * the kernel does not report are 0. Thread-safe.
 */
public interface CoreTimes {
  CoreTimes UNKNOWN =
      new CoreTimes() {
        @Override
        public long ofThread() {
          return 0;
        }

        @Override
        public void ofProcess(Figures figures) {
          // Nothing is known.
        }
      };

  /** Returns how long the calling thread was runnable without a core. */
  long ofThread();

  /**
   * Sets the CPU time of the process and of the JVM's own threads, its threads' waits for a core,
   * throttling and pressure. Called at the end of an epoch and for totals; the figures may be
   * slightly old.
   */
  void ofProcess(Figures figures);
}
