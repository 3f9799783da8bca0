package io.coordl.staging;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** What this job did in the epochs of one pipeline. Thread-safe. */
final class StagingCounters {
  final LongAdder epochs = new LongAdder();
  final LongAdder sharedEpochs = new LongAdder();
  final LongAdder prepared = new LongAdder();

  /** Batches prepared here after another had taken the claim over. */
  final LongAdder tooLate = new LongAdder();

  final LongAdder mapped = new LongAdder();
  final LongAdder copied = new LongAdder();
  final LongAdder takenBytes = new LongAdder();
  final LongAdder waitNanos = new LongAdder();

  /** Claims of jobs that died or were stopped. */
  final LongAdder takeOvers = new LongAdder();

  final LongAdder updates = new LongAdder();
  final LongAdder dropped = new LongAdder();

  // Batches that the job prepared by itself, and why.

  /** No job prepares batches of the epoch (any more). */
  final LongAdder nobody = new LongAdder();

  /** It was too large for a slot, or there was no memory. */
  final LongAdder notStaged = new LongAdder();

  /** The job that had claimed it did not get on with it. */
  final LongAdder late = new LongAdder();

  /** It had been given up: this job was taken out of the epoch. */
  final LongAdder lost = new LongAdder();

  /** By process id, nanoseconds that threads which prepare waited until that job had got on. */
  final Map<Long, LongAdder> waitedFor = new ConcurrentHashMap<>();

  void waitedFor(long pid, long nanos) {
    waitedFor.computeIfAbsent(pid, p -> new LongAdder()).add(nanos);
  }
}
