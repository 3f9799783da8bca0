package io.coordl.telemetry.advice;

import io.coordl.telemetry.event.GpuStatisticsEvent;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;

/** Describes the use of the GPUs, the same way in the summary, the report and the live view. */
public final class Gpus {
  /** Accelerator utilization that MLPerf Storage requires for most models. */
  private static final double REQUIRED_UTILIZATION = 0.9;

  private Gpus() {}

  /**
   * Returns the devices that the job uses: those where its process was seen, or all if it was seen
   * on none (a container may hide it).
   */
  public static List<GpuStatisticsEvent> used(List<GpuStatisticsEvent> all) {
    List<GpuStatisticsEvent> own = all.stream().filter(gpu -> gpu.ownMemory > 0).toList();
    return own.isEmpty() ? all : own;
  }

  /** Returns one line; {@code all} must not be empty. */
  public static String line(List<GpuStatisticsEvent> all) {
    List<GpuStatisticsEvent> gpus = used(all);
    long sampled = sum(gpus, gpu -> gpu.sampled);
    long busy = sum(gpus, gpu -> gpu.busy);
    long idle = sampled - busy;
    GpuStatisticsEvent least =
        gpus.stream()
            .min(Comparator.comparingDouble(GpuStatisticsEvent::utilization))
            .orElseThrow();
    String which =
        gpus.size() == 1
            ? Sentence.GPU.with(least.device, Text.line(String.valueOf(least.name), 40))
            : Sentence.GPUS.with(gpus.size());
    String line =
        Sentence.GPU_BUSY.with(
            which,
            gpus.get(0).ownMemory > 0 ? "" : Sentence.GPU_OF_ANY.with(),
            Text.percent(busy, sampled),
            (busy >= REQUIRED_UTILIZATION * sampled ? Sentence.GPU_AT_LEAST : Sentence.GPU_LESS)
                .with());
    if (gpus.size() > 1) {
      line += Sentence.GPU_LOWEST.with(least.device, Text.percent(least.busy, least.sampled));
    }
    if (idle > 0) {
      line += Sentence.GPU_IDLE.with(Text.percent(sum(gpus, gpu -> gpu.idleInStalls), idle));
    }
    long steps = sum(gpus, gpu -> gpu.synchronizedSteps);
    return steps == 0
        ? line
        : line
            + Sentence.GPU_SYNCHRONIZED.with(
                Text.percent(steps, sampled), 100.0 * (busy - steps) / steps);
  }

  private static long sum(
      List<GpuStatisticsEvent> gpus, ToLongFunction<GpuStatisticsEvent> figure) {
    return gpus.stream().mapToLong(figure).sum();
  }
}
