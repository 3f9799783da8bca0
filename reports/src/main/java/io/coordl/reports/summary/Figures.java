package io.coordl.reports.summary;

import io.coordl.reports.recording.Epoch;
import io.coordl.reports.recording.JobStatistics;

/**
 * What was counted over a job or one epoch. Wall, compute, stalls and checkpoint are times of the
 * training thread; the stall is the sum of its four parts; fetch, decode, transform and other times
 * are self times summed over all threads.
 */
record Figures(
    long wallNanos,
    long batches,
    long computeNanos,
    long stallNanos,
    long fetchStallNanos,
    long prepStallNanos,
    long gcStallNanos,
    long queueStallNanos,
    long checkpointNanos,
    long fetchTimeNanos,
    long decodeTimeNanos,
    long transformTimeNanos,
    long otherTimeNanos,
    long items,
    long memoryItems,
    long peerItems,
    long storageItems,
    long memoryBytes,
    long peerBytes,
    long storageBytes) {

  static final Figures NONE =
      new Figures(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  static Figures of(JobStatistics job) {
    return new Figures(
        job.wall(),
        job.batches(),
        job.compute(),
        job.stall(),
        job.fetchStall(),
        job.prepStall(),
        job.gcStall(),
        job.queueStall(),
        job.checkpoint(),
        job.fetchTime(),
        job.decodeTime(),
        job.transformTime(),
        job.otherTime(),
        job.items(),
        job.memoryItems(),
        job.peerItems(),
        job.storageItems(),
        job.memoryBytes(),
        job.peerBytes(),
        job.storageBytes());
  }

  static Figures of(Epoch epoch) {
    return new Figures(
        epoch.wall(),
        epoch.batches(),
        epoch.compute(),
        epoch.stall(),
        epoch.fetchStall(),
        epoch.prepStall(),
        epoch.gcStall(),
        epoch.queueStall(),
        epoch.checkpoint(),
        epoch.fetchTime(),
        epoch.decodeTime(),
        epoch.transformTime(),
        epoch.otherTime(),
        epoch.items(),
        epoch.memoryItems(),
        epoch.peerItems(),
        epoch.storageItems(),
        epoch.memoryBytes(),
        epoch.peerBytes(),
        epoch.storageBytes());
  }

  Figures plus(Figures more) {
    return new Figures(
        wallNanos + more.wallNanos,
        batches + more.batches,
        computeNanos + more.computeNanos,
        stallNanos + more.stallNanos,
        fetchStallNanos + more.fetchStallNanos,
        prepStallNanos + more.prepStallNanos,
        gcStallNanos + more.gcStallNanos,
        queueStallNanos + more.queueStallNanos,
        checkpointNanos + more.checkpointNanos,
        fetchTimeNanos + more.fetchTimeNanos,
        decodeTimeNanos + more.decodeTimeNanos,
        transformTimeNanos + more.transformTimeNanos,
        otherTimeNanos + more.otherTimeNanos,
        items + more.items,
        memoryItems + more.memoryItems,
        peerItems + more.peerItems,
        storageItems + more.storageItems,
        memoryBytes + more.memoryBytes,
        peerBytes + more.peerBytes,
        storageBytes + more.storageBytes);
  }

  /** Bytes that were asked for, wherever they came from. */
  long bytes() {
    return memoryBytes + peerBytes + storageBytes;
  }

  /** A part of the wall time, 0 to 1; 0 if there was no wall time. */
  double share(long nanos) {
    return wallNanos <= 0 ? 0 : (double) nanos / wallNanos;
  }
}
