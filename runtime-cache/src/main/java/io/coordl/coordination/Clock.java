package io.coordl.coordination;

import java.util.concurrent.locks.LockSupport;

/** Reads the time and pauses threads; tests substitute it. */
interface Clock {
  Clock SYSTEM =
      new Clock() {
        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public void pause(long nanos) {
          // A pending interrupt would make parkNanos return immediately.
          boolean interrupted = Thread.interrupted();
          LockSupport.parkNanos(this, nanos);
          if (interrupted) {
            Thread.currentThread().interrupt();
          }
        }
      };

  long nanos();

  /**
   * Pauses for about {@code nanos}, or until the thread is unparked; preserves the interrupt flag.
   */
  void pause(long nanos);
}
