package io.coordl.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Percentage;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** What a GPU did, once a second; -1 is not known. Lasts from the sample before to this one. */
@Name("io.coordl.GpuSample")
@Label("GPU Sample")
@Description("What a GPU did, once a second; -1 is not known.")
public final class GpuSampleEvent extends EventBase {
  @Label("Device")
  @Description("Number of the device as NVML counts")
  public long device;

  @Label("Name")
  @Description("What the device is")
  public @Nullable String name;

  @Label("Utilization")
  @Description("Part of the time that a kernel of any process ran")
  @Percentage
  public double utilization;

  @Label("Own Utilization")
  @Description("Part of the time that kernels of this process ran")
  @Percentage
  public double ownUtilization;

  @Label("Idle")
  @Description("Time since the sample before in which no kernel ran, by the utilization")
  @Timespan(Timespan.NANOSECONDS)
  public long idle;

  @Label("Memory")
  @Description("Memory of the device")
  @DataAmount
  public long memory;

  @Label("Used Memory")
  @Description("Of it, in use by all processes")
  @DataAmount
  public long usedMemory;

  @Label("Own Memory")
  @Description("Of it, in use by this process")
  @DataAmount
  public long ownMemory;

  @Label("Power")
  @Description("Milliwatts")
  public long milliwatts;

  @Label("PCIe Received")
  @Description("Bytes a second that the device received")
  @DataAmount
  public long pcieReceived;

  @Label("PCIe Sent")
  @Description("Bytes a second that the device sent")
  @DataAmount
  public long pcieSent;

  @Label("Clock")
  @Description("Megahertz of the multiprocessors")
  public long clock;

  @Label("Memory Clock")
  @Description("Megahertz of the memory")
  public long memoryClock;
}
