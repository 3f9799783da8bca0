package io.coordl.attribution;

import io.coordl.advice.Figures;

/**
 * Sums over a pass or the whole job, in nanoseconds, bytes and counts. Not safe for concurrent use:
 * a pass belongs to one thread, the job's totals are guarded by {@link JobTotals}.
 */
final class Totals {
  long batches;
  long compute;
  long stall;
  long fetchStall;
  long prepStall;
  long gcStall;
  long queueStall;
  long checkpoint;

  void addStall(StallShares shares) {
    stall += shares.total();
    fetchStall += shares.fetch();
    prepStall += shares.prep();
    gcStall += shares.gc();
    queueStall += shares.queue();
  }

  /** These, over so much wall time, and what was counted meanwhile. */
  Figures with(long wall, Figures counted) {
    return new Figures(
            wall,
            batches,
            compute,
            stall,
            fetchStall,
            prepStall,
            gcStall,
            queueStall,
            checkpoint,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0)
        .plus(counted);
  }

  void add(Totals other) {
    batches += other.batches;
    compute += other.compute;
    stall += other.stall;
    fetchStall += other.fetchStall;
    prepStall += other.prepStall;
    gcStall += other.gcStall;
    queueStall += other.queueStall;
    checkpoint += other.checkpoint;
  }
}
