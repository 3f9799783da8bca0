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

/** One image was decoded, in 1 ms or longer, its bytes read inside; no array made of it. */
@Name("io.coordl.Decode")
@Label("Decode")
@Description(
    "One image was decoded, in 1 ms or longer, its bytes read inside; no array made of it.")
@Category("CoorDL")
@Registered(false)
@StackTrace(false)
@Threshold("1 ms")
public final class DecodeEvent extends Event {
  @Label("Batch")
  @Description("Number of the batch, 0 if none")
  @BatchId
  public long batch;

  @Label("Codec")
  @Description("Class that decoded")
  public @Nullable String codec;
}
