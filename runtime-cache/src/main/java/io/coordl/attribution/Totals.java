package io.coordl.attribution;

/**
 * Sums over a pass or the whole job, in nanoseconds, bytes and counts. Not safe for concurrent use:
 * a pass belongs to one thread, the job's totals are guarded by {@link JobTotals}.
 */
public final class Totals {
  public long batches;
  public long compute;
  public long stall;
  public long fetchStall;
  public long prepStall;
  public long gcStall;
  public long queueStall;
  public long checkpoint;

  void addStall(StallShares shares) {
    stall += shares.total();
    fetchStall += shares.fetch();
    prepStall += shares.prep();
    gcStall += shares.gc();
    queueStall += shares.queue();
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
