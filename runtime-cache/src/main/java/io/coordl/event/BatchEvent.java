package io.coordl.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** One batch was prepared; the duration spans its preparation on one thread. */
@Name("io.coordl.Batch")
@Label("Batch")
@Description("One batch was prepared; the duration spans its preparation on one thread.")
@Category("CoorDL")
@Registered(false)
@StackTrace(false)
public final class BatchEvent extends Event {
  /** Number of the batch, 0 if none */
  @Label("Batch")
  @Description("Number of the batch, 0 if none")
  @BatchId
  public long batch;

  /** Self time of fetches */
  @Label("Fetch")
  @Description("Self time of fetches")
  @Timespan(Timespan.NANOSECONDS)
  public long fetch;

  /** Self time of decoding */
  @Label("Decode")
  @Description("Self time of decoding")
  @Timespan(Timespan.NANOSECONDS)
  public long decode;

  /** Self time of transforms */
  @Label("Transform")
  @Description("Self time of transforms")
  @Timespan(Timespan.NANOSECONDS)
  public long transform;

  /** Assembly, labels and everything else */
  @Label("Other")
  @Description("Assembly, labels and everything else")
  @Timespan(Timespan.NANOSECONDS)
  public long other;

  /** Items fetched for this batch */
  @Label("Items")
  @Description("Items fetched for this batch")
  public long items;

  /** Class of the iterator or data set */
  @Label("Source")
  @Description("Class of the iterator or data set")
  public @Nullable String source;
}
