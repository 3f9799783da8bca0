package io.coordl.telemetry.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Percentage;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * One sample of a GPU, taken once a second. The event spans the time that the utilization covers.
 */
@Name("io.coordl.GpuSample")
@Label("GPU Sample")
@Description("State of a GPU, sampled once a second; -1 means unknown.")
public final class GpuSampleEvent extends EventBase {
  @Label("Device")
  @Description("NVML index of the device")
  public long device;

  @Label("Name")
  @Description("Model of the device")
  public @Nullable String name;

  @Label("Utilization")
  @Description("Share of the time during which a kernel of any process ran")
  @Percentage
  public double utilization;

  @Label("Own Utilization")
  @Description("Share of the time during which kernels of this process ran")
  @Percentage
  public double ownUtilization;

  @Label("Idle")
  @Description("Time without a kernel since the previous sample, derived from the utilization")
  @Timespan(Timespan.NANOSECONDS)
  public long idle;

  @Label("Memory")
  @Description("Memory of the device")
  @DataAmount
  public long memory;

  @Label("Used Memory")
  @Description("Device memory in use by all processes")
  @DataAmount
  public long usedMemory;

  @Label("Own Memory")
  @Description("Device memory in use by this process")
  @DataAmount
  public long ownMemory;

  @Label("Power")
  @Description("Milliwatts")
  public long milliwatts;

  @Label("PCIe Received")
  @Description("Bytes per second that the device received")
  @DataAmount
  public long pcieReceived;

  @Label("PCIe Sent")
  @Description("Bytes per second that the device sent")
  @DataAmount
  public long pcieSent;

  @Label("Clock")
  @Description("Clock of the multiprocessors in megahertz")
  public long clock;

  @Label("Memory Clock")
  @Description("Clock of the memory in megahertz")
  public long memoryClock;
}
