package io.coordl.host;

import io.coordl.telemetry.event.Figures;

/**
 * What the kernel counts about cores, in nanoseconds since a thread or the process began. Any
 * thread may call it; figures that the kernel does not count are 0.
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

  /** How long the calling thread was ready to run, but had no core; asked once a batch. */
  long ofThread();

  /**
   * Sets the CPU time of the process, its threads' waits for a core, throttling and pressure. Asked
   * when an epoch ends, and for totals; may answer with the figures of a moment ago.
   */
  void ofProcess(Figures figures);
}
