package io.coordl.staging;

import java.time.Duration;

/**
 * How long jobs have patience with each other. No correctness depends on these.
 *
 * @param patience how long a job waits for a batch that another has claimed; longer if its own
 *     batches take longer
 * @param beat without a sign of life for so long, a job counts as stopped
 * @param lease without a batch for so long, a job is no longer waited for
 * @param blocked a job that waits for so long in one pipeline is not waited for in the others
 * @param start how long the first epoch waits for the number of jobs that the user named
 */
record Timeouts(
    Duration patience, Duration beat, Duration lease, Duration blocked, Duration start) {
  static final Timeouts USUAL =
      new Timeouts(
          Duration.ofSeconds(10),
          Duration.ofSeconds(5),
          Duration.ofSeconds(60),
          Duration.ofSeconds(1),
          // Less in tests of jobs that never find each other.
          Duration.ofSeconds(Integer.getInteger("coordl.prep.start", 60)));
}
