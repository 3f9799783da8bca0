package io.coordl.gpu;

import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.GpuSampleEvent;
import io.coordl.telemetry.event.GpuStatisticsEvent;

/**
 * Totals of one device over the time in which the job took batches. A stall enters the job's totals
 * when it ends, so samples are held back until the next batch; those after the last batch are not
 * part of the training. Safe for concurrent use.
 */
final class GpuTime {
  /**
   * The driver's last window may end only after the next reading, so a wait and its idle time may
   * be counted up to this far apart.
   */
  private static final long LAG_NANOS = 1_000_000_000;

  private final GpuStatisticsEvent sum = new GpuStatisticsEvent();
  private long samples;
  private long sampled;
  private long idle;
  private long stallsSeen;

  /** Idle time until the last batch without a stall to explain it; below, the reverse. */
  private long idleLeft;

  private long stallLeft;
  private final long stepsBefore;

  /** Starts now: earlier waits and steps of the job do not count. */
  GpuTime(String binding, Figures begun, long steps) {
    stallsSeen = begun.stall;
    stepsBefore = steps;
    sum.binding = binding;
    sum.usedMemory = Nvml.UNKNOWN;
    sum.ownMemory = Nvml.UNKNOWN;
  }

  /**
   * Adds a sample that covers {@code nanos}, during which the totals grew; {@code steps} is the
   * count so far.
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
      long toExplain = idle + idleLeft;
      long stall = after.stall - stallsSeen + stallLeft;
      long explained = Math.min(toExplain, stall);
      sum.idleInStalls += explained;
      idleLeft = Math.min(LAG_NANOS, toExplain - explained);
      stallLeft = Math.min(LAG_NANOS, stall - explained);
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
