package io.coordl.staging;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** What this job did in the epochs of one pipeline. Thread-safe. */
final class StagingCounters {
  /** Why a job prepared a batch by itself. */
  enum Reason {
    /** No job prepares batches of the epoch (any more). */
    NOBODY,
    /** It was too large for a slot, or there was no memory. */
    NOT_STAGED,
    /** The job that had claimed it did not get on with it. */
    LATE,
    /** It had been given up: this job was taken out of the epoch. */
    LOST
  }

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
  private final Map<Reason, LongAdder> alone = new EnumMap<>(Reason.class);

  /** By process id, nanoseconds that threads which prepare waited until that job had got on. */
  final Map<Long, LongAdder> waitedFor = new ConcurrentHashMap<>();

  StagingCounters() {
    for (Reason reason : Reason.values()) {
      alone.put(reason, new LongAdder());
    }
  }

  void alone(Reason reason) {
    of(reason).increment();
  }

  long aloneBecause(Reason reason) {
    return of(reason).sum();
  }

  private LongAdder of(Reason reason) {
    return Objects.requireNonNull(alone.get(reason));
  }

  void waitedFor(long pid, long nanos) {
    waitedFor.computeIfAbsent(pid, p -> new LongAdder()).add(nanos);
  }
}
