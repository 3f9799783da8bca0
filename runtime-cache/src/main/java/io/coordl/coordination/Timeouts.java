package io.coordl.coordination;

import java.time.Duration;

/**
 * Time limits of waits between jobs. Correctness does not depend on them.
 *
 * @param patience how long a job waits for a batch that another has claimed; extended if its own
 *     batches take longer
 * @param beat a job without a heartbeat for this long is considered suspended
 * @param lease other jobs stop waiting for a job that has not progressed for this long
 * @param blocked jobs do not wait in one pipeline for a job that has waited this long in another
 * @param start how long the first epoch waits for the requested number of jobs
 */
record Timeouts(
    Duration patience, Duration beat, Duration lease, Duration blocked, Duration start) {
  static final Timeouts USUAL =
      new Timeouts(
          Duration.ofSeconds(10),
          Duration.ofSeconds(5),
          Duration.ofSeconds(60),
          Duration.ofSeconds(1),
          // Shorter in tests of jobs that never find each other.
          Duration.ofSeconds(Integer.getInteger("coordl.prep.start", 60)));
}
