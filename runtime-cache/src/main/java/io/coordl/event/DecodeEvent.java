package io.coordl.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

/** Encoded bytes became pixels or an array. */
@Name("io.coordl.Decode")
@Label("Decode")
@Description("Encoded bytes became pixels or an array.")
@Category("CoorDL")
@Registered(false)
@StackTrace(false)
@Threshold("1 ms")
public final class DecodeEvent extends Event {
  /** Number of the batch, 0 if none */
  @Label("Batch")
  @Description("Number of the batch, 0 if none")
  @BatchId
  public long batch;

  /** Class that decoded */
  @Label("Codec")
  @Description("Class that decoded")
  public @Nullable String codec;
}
