package io.coordl.event;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** What a profile measured of the host and the data set; 0 is unknown. */
@Name("io.coordl.Host")
@Label("Host")
@Description("What a profile measured of the host and the data set; 0 is unknown.")
@Category("CoorDL")
@Registered(false)
@StackTrace(false)
public final class HostEvent extends Event {
  /** Cores this JVM may use */
  @Label("Cores")
  @Description("Cores this JVM may use")
  public long cores;

  /** Memory of the host or container */
  @Label("Memory")
  @Description("Memory of the host or container")
  @DataAmount
  public long memory;

  /** Of it, free or used as page cache */
  @Label("Free Memory")
  @Description("Of it, free or used as page cache")
  @DataAmount
  public long freeMemory;

  /** Bytes a second that items are read at from memory */
  @Label("Memory Rate")
  @Description("Bytes a second that items are read at from memory")
  @DataAmount
  public long memoryRate;

  /** Bytes a second that items are read at from storage, past the page cache */
  @Label("Storage Rate")
  @Description("Bytes a second that items are read at from storage, past the page cache")
  @DataAmount
  public long storageRate;

  /** Half width of the 95 % confidence interval of the storage rate */
  @Label("Error of Storage Rate")
  @Description("Half width of the 95 % confidence interval of the storage rate")
  @DataAmount
  public long storageRateError;

  /** Threads that read while the storage rate was measured */
  @Label("Storage Threads")
  @Description("Threads that read while the storage rate was measured")
  public long storageThreads;

  /** direct: past the page cache; otherwise why it could not be */
  @Label("Storage Access")
  @Description("direct: past the page cache; otherwise why it could not be")
  public @Nullable String storageAccess;

  /** Items of the data set */
  @Label("Items")
  @Description("Items of the data set")
  public long datasetItems;

  /** Bytes of the data set as stored */
  @Label("Bytes")
  @Description("Bytes of the data set as stored")
  @DataAmount
  public long datasetBytes;

  /** Mean bytes of an item once decoded */
  @Label("Decoded Item")
  @Description("Mean bytes of an item once decoded")
  @DataAmount
  public long decodedItemBytes;

  /** Mean time to decode an item in nanoseconds, on one thread */
  @Label("Decode Time")
  @Description("Mean time to decode an item in nanoseconds, on one thread")
  public double decodeNanos;
}
