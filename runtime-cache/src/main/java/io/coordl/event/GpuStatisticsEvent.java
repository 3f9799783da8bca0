package io.coordl.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.GpuStatistics")
@Label("GPU Statistics")
@Description("A GPU over the time in which the job took batches, from samples once a second.")
@Period("endChunk")
public final class GpuStatisticsEvent extends EventBase {
  @Label("Device")
  @Description("Number of the device as NVML counts")
  public long device;

  @Label("Name")
  @Description("What the device is")
  public @Nullable String name;

  @Label("Binding")
  @Description("How the driver is asked")
  public @Nullable String binding;

  @Label("Samples")
  @Description("Samples that count")
  public long samples;

  @Label("Sampled Time")
  @Description("Time that the samples stand for")
  @Timespan(Timespan.NANOSECONDS)
  public long sampled;

  @Label("Busy")
  @Description("Of it, a kernel ran, of any process")
  @Timespan(Timespan.NANOSECONDS)
  public long busy;

  @Label("Idle In Data Stalls")
  @Description("Idle time that data stalls explain: from batch to batch, the lesser of the two")
  @Timespan(Timespan.NANOSECONDS)
  public long idleInStalls;

  @Label("Synchronized Steps")
  @Description("In a profile: steps of the training thread until the device was done")
  @Timespan(Timespan.NANOSECONDS)
  public long synchronizedSteps;

  @Label("Used Memory")
  @Description("Most of the device's memory that was in use; -1 if it was never known")
  @DataAmount
  public long usedMemory;

  @Label("Own Memory")
  @Description("Most that this process was seen to use; -1 if it was never known")
  @DataAmount
  public long ownMemory;

  /** As it is now, whatever is counted later. */
  public GpuStatisticsEvent copy() {
    return (GpuStatisticsEvent) clone();
  }

  /** Time without a kernel. */
  public long idle() {
    return sampled - busy;
  }

  /** Accelerator utilisation as MLPerf Storage has it: busy over wall, 0 to 1. */
  public double utilization() {
    return sampled == 0 ? 0 : (double) busy / sampled;
  }

  /** Part of the idle time that data stalls explain, 0 to 1. */
  public double explained() {
    return idle() <= 0 ? 0 : (double) idleInStalls / idle();
  }
}
