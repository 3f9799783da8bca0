package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Decode")
@Label("Decode")
@Description(
    "Decoding one image took 1 ms or longer, including reading but not conversion to an array.")
@Threshold("1 ms")
public final class DecodeEvent extends Batched {
  @Label("Codec")
  @Description("Class that decoded the image")
  public @Nullable String codec;
}
