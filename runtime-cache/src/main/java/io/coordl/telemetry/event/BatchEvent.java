package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Batch")
@Label("Batch")
@Description("One batch was prepared; the duration spans its preparation on one thread.")
public final class BatchEvent extends Batched {
  @Label("Samples")
  @Description("Samples of the batch, 0 if unknown")
  public long samples;

  @Label("Fetch")
  @Description("Self time of fetches")
  @Timespan(Timespan.NANOSECONDS)
  public long fetch;

  @Label("Decode")
  @Description("Self time of decoding")
  @Timespan(Timespan.NANOSECONDS)
  public long decode;

  @Label("Transform")
  @Description("Self time of transforms")
  @Timespan(Timespan.NANOSECONDS)
  public long transform;

  @Label("Other")
  @Description("Assembly, labels and everything else")
  @Timespan(Timespan.NANOSECONDS)
  public long other;

  @Label("Waiting for a Core")
  @Description("Part of these times during which the preparing thread waited for a core")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long coreWait;

  @Label("Items")
  @Description("Items fetched for this batch")
  public long items;

  @Label("Source")
  @Description("Class of the iterator or data set")
  public @Nullable String source;

  @Label("Data Set")
  @Description("Class of the data set whose batches the source yields; the source's if unknown")
  @Added("0.2.0")
  public @Nullable String dataset;
}
