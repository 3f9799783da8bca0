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
   * Devices that the job uses: those where its process was seen, or all if it was seen on none (a
   * container hides it).
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
            ? "GPU " + least.device + " (" + Text.line(String.valueOf(least.name), 40) + ")"
            : gpus.size() + " GPUs";
    String whose = gpus.get(0).ownMemory > 0 ? "" : " of this host, used by any process";
    String line =
        which
            + whose
            + ": busy "
            + Text.percent(busy, sampled)
            + (busy >= REQUIRED_UTILIZATION * sampled ? ", as much as" : ", less than")
            + " the 90 % that MLPerf Storage requires";
    if (gpus.size() > 1) {
      line += ", lowest GPU " + least.device + " at " + Text.percent(least.busy, least.sampled);
    }
    if (idle > 0) {
      line +=
          "; data stalls explain at most "
              + Text.percent(sum(gpus, gpu -> gpu.idleInStalls), idle)
              + " of its idle time";
    }
    long steps = sum(gpus, gpu -> gpu.synchronizedSteps);
    return steps == 0
        ? line
        : line
            + Text.format(
                "; synchronized steps %s, so the samples are off by %+.1f %%",
                Text.percent(steps, sampled), 100.0 * (busy - steps) / steps);
  }

  private static long sum(
      List<GpuStatisticsEvent> gpus, ToLongFunction<GpuStatisticsEvent> figure) {
    return gpus.stream().mapToLong(figure).sum();
  }
}
