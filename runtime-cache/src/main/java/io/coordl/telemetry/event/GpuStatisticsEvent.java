package io.coordl.telemetry.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.GpuStatistics")
@Label("GPU Statistics")
@Description("Use of a GPU while the job took batches, sampled once a second.")
@Period("endChunk")
public final class GpuStatisticsEvent extends EventBase {
  @Label("Device")
  @Description("NVML index of the device")
  public long device;

  @Label("Name")
  @Description("Model of the device")
  public @Nullable String name;

  @Label("Binding")
  @Description("Binding through which the driver is called")
  public @Nullable String binding;

  @Label("Samples")
  @Description("Number of samples")
  public long samples;

  @Label("Sampled Time")
  @Description("Time covered by the samples")
  @Timespan(Timespan.NANOSECONDS)
  public long sampled;

  @Label("Busy")
  @Description("Part of that time during which a kernel of any process ran")
  @Timespan(Timespan.NANOSECONDS)
  public long busy;

  @Label("Idle In Data Stalls")
  @Description("Upper bound of the idle time that data stalls explain")
  @Timespan(Timespan.NANOSECONDS)
  public long idleInStalls;

  @Label("Synchronized Steps")
  @Description("In a profile: time of the training steps, each until the device had finished")
  @Timespan(Timespan.NANOSECONDS)
  public long synchronizedSteps;

  @Label("Used Memory")
  @Description("Peak use of the device's memory; -1 if unknown")
  @DataAmount
  public long usedMemory;

  @Label("Own Memory")
  @Description("Peak use by this process; -1 if unknown")
  @DataAmount
  public long ownMemory;

  /** Returns a snapshot, unaffected by later counts. */
  public GpuStatisticsEvent copy() {
    return (GpuStatisticsEvent) clone();
  }

  /** Returns the time without a kernel. */
  public long idle() {
    return sampled - busy;
  }

  /** Returns the share of the sampled time in which the device was busy, 0 to 1. */
  public double utilization() {
    return sampled == 0 ? 0 : (double) busy / sampled;
  }

  /** Returns the share of the idle time that data stalls explain, 0 to 1. */
  public double explained() {
    return idle() <= 0 ? 0 : (double) idleInStalls / idle();
  }
}
