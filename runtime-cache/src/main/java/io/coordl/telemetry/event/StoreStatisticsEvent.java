package io.coordl.telemetry.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.StoreStatistics")
@Label("Store Statistics")
@Description("State of one item store.")
@Period("endChunk")
public final class StoreStatisticsEvent extends EventBase {
  /** Items as stored. */
  public static final String RAW = "raw";

  /** Decoded images. */
  public static final String DECODED = "decoded";

  /** Samples prepared up to the first random transform. */
  public static final String PREPARED = "prepared";

  @Label("Store")
  @Description("Form of the items: raw, decoded or prepared")
  public @Nullable String store;

  @Label("Scope")
  @Description("process or host")
  public @Nullable String scope;

  @Label("Group")
  @Description("Jobs that share the store")
  public @Nullable String group;

  @Label("Capacity")
  @Description("Byte budget")
  @DataAmount
  @Metric("coordl_store_capacity_bytes")
  public long capacity;

  @Label("Used")
  @Description("Bytes in use; for raw items, index included")
  @DataAmount
  @Metric("coordl_store_bytes")
  public long used;

  @Label("Items")
  @Description("Items and blocks cached")
  @Metric("coordl_store_items")
  public long items;

  @Label("Hits")
  @Description("Opens served from memory")
  @Metric("coordl_store_hits_total")
  public long hits;

  @Label("Misses")
  @Description("Opens not served from memory")
  @Metric("coordl_store_misses_total")
  public long misses;

  @Label("Admitted")
  @Description("Items and blocks that this job added")
  public long admitted;

  @Label("From Peers")
  @Description("Misses served from the memory of another host")
  public long peer;

  @Label("Not Cached")
  @Description(
      "Opens whose item was not cached: the store was full, the file was unreadable or changed"
          + " during the read, or another thread or job was reading it")
  public long bypassed;

  @Label("Full")
  @Description("Whether an item was not cached because the store was full")
  public boolean full;

  @Label("Bytes Hit")
  @Description("Bytes served from memory")
  @DataAmount
  public long hitBytes;

  @Label("Bytes From Peers")
  @Description("Bytes served from the memory of other hosts")
  @DataAmount
  public long peerBytes;

  @Label("Order")
  @Description("first or second to be cached, if the agent chose between raw and decoded items")
  public @Nullable String order;

  @Label("Item Bytes")
  @Description("Mean length of an item, measured for that choice")
  @DataAmount
  public long itemBytes;

  @Label("Item Saves")
  @Description("Mean time that a hit on such an item saves")
  @Timespan(Timespan.NANOSECONDS)
  public long itemSaves;

  @Label("Released")
  @Description(
      "Bytes released because memory was short or the store did not help; summed over all"
          + " forms that share the capacity")
  @DataAmount
  @Added("0.2.0")
  public long givenBack;

  @Label("Jobs")
  @Description("Live jobs that use the store")
  @Metric("coordl_store_jobs")
  public long jobs;

  /** Returns the share of opens that were hits, 0 to 1; null if there were none. */
  public @Nullable Double hitRatio() {
    return hits + misses == 0 ? null : (Double) ((double) hits / (hits + misses));
  }

  public boolean keeps(String form) {
    return form.equals(store == null ? RAW : store);
  }
}
