package io.coordl.gpu;

import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.GpuSampleEvent;
import io.coordl.telemetry.event.GpuStatisticsEvent;

/**
 * Totals of one GPU while the job takes batches. The job's totals include a stall only once it has
 * ended, so samples are held back until the next batch. Samples after the last batch are dropped:
 * training has ended. Safe for concurrent use.
 */
final class GpuTime {
  /**
   * The driver's last window may end after the next reading, so a stall and its idle time may be
   * counted up to this long apart.
   */
  private static final long LAG_NANOS = 1_000_000_000;

  private final GpuStatisticsEvent sum = new GpuStatisticsEvent();
  private long samples;
  private long sampled;
  private long idle;
  private long stallsSeen;

  /** Idle time, up to the last batch, that no stall explains yet. */
  private long unexplainedIdle;

  /** Stall time, up to the last batch, that no idle time matches yet. */
  private long unmatchedStall;

  private final long stepsBefore;

  /** Creates totals from now on; earlier stalls and steps of the job are not counted. */
  GpuTime(String binding, Figures atStart, long steps) {
    stallsSeen = atStart.stall;
    stepsBefore = steps;
    sum.binding = binding;
    sum.usedMemory = Nvml.UNKNOWN;
    sum.ownMemory = Nvml.UNKNOWN;
  }

  /**
   * Adds a sample.
   *
   * @param nanos time that the sample covers
   * @param before totals of the job at the start of that time
   * @param after totals of the job at its end
   * @param steps nanoseconds of synchronized steps so far
   */
  synchronized void add(
      GpuSampleEvent sample, long nanos, Figures before, Figures after, long steps) {
    sum.device = sample.device;
    sum.name = sample.name;
    sum.usedMemory = Math.max(sum.usedMemory, sample.usedMemory);
    sum.ownMemory = Math.max(sum.ownMemory, sample.ownMemory);
    if (sample.utilization < 0) {
      sample.idle = Nvml.UNKNOWN;
      return;
    }
    sample.idle = Math.round(nanos * (1 - Math.min(1, sample.utilization)));
    samples++;
    sampled += nanos;
    idle += sample.idle;
    if (after.batches > before.batches) {
      sum.samples += samples;
      sum.sampled += sampled;
      sum.busy += sampled - idle;
      long toExplain = idle + unexplainedIdle;
      long stall = after.stall - stallsSeen + unmatchedStall;
      long explained = Math.min(toExplain, stall);
      sum.idleInStalls += explained;
      unexplainedIdle = Math.min(LAG_NANOS, toExplain - explained);
      unmatchedStall = Math.min(LAG_NANOS, stall - explained);
      stallsSeen = after.stall;
      sum.synchronizedSteps = steps - stepsBefore;
      samples = 0;
      sampled = 0;
      idle = 0;
    }
  }

  synchronized GpuStatisticsEvent view() {
    return sum.copy();
  }
}
