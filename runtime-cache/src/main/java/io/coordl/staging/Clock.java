package io.coordl.staging;

import java.util.concurrent.locks.LockSupport;

/** Time, and waiting for it to epoch. */
interface Clock {
  Clock SYSTEM =
      new Clock() {
        @Override
        public long nanos() {
          return System.nanoTime();
        }

        @Override
        public void pause(long nanos) {
          boolean interrupted = Thread.interrupted(); // It would make parking return at once.
          LockSupport.parkNanos(this, nanos);
          if (interrupted) {
            Thread.currentThread().interrupt();
          }
        }
      };

  long nanos();

  /** Waits about that long; an interrupt of the thread is kept for the program. */
  void pause(long nanos);
}
