package io.coordl.telemetry.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Host")
@Label("Host")
@Description("Host and data set as measured by a profile; 0 means unknown.")
public final class HostEvent extends EventBase {
  @Label("Cores")
  @Description("Cores this JVM may use")
  public long cores;

  @Label("Memory")
  @Description("Memory of the host or container")
  @DataAmount
  public long memory;

  @Label("Free Memory")
  @Description("Memory that a store can use: free memory and page cache, less the heap's growth")
  @DataAmount
  public long freeMemory;

  @Label("Memory Rate")
  @Description("Bytes per second when reading items from memory")
  @DataAmount
  public long memoryRate;

  @Label("Storage Rate")
  @Description("Bytes per second when reading items from storage, bypassing the page cache")
  @DataAmount
  public long storageRate;

  @Label("Error of Storage Rate")
  @Description("Half width of the 95 % confidence interval of the storage rate")
  @DataAmount
  public long storageRateError;

  @Label("Storage Threads")
  @Description("Threads that read while the storage rate was measured")
  public long storageThreads;

  @Label("Storage Access")
  @Description("direct: bypassing the page cache; otherwise why that was impossible")
  public @Nullable String storageAccess;

  @Label("Items")
  @Description("Items of the data set")
  public long datasetItems;

  @Label("Bytes")
  @Description("Bytes of the data set as stored")
  @DataAmount
  public long datasetBytes;

  @Label("Decoded Item")
  @Description("Mean size of a decoded item in bytes")
  @DataAmount
  public long decodedItemBytes;

  @Label("Decode Time")
  @Description("Mean time to decode an item in nanoseconds, on one thread")
  public double decodeNanos;
}
