package io.coordl.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Decode")
@Label("Decode")
@Description(
    "One image was decoded, in 1 ms or longer, its bytes read inside; no array made of it.")
@Threshold("1 ms")
public final class DecodeEvent extends Batched {
  @Label("Codec")
  @Description("Class that decoded")
  public @Nullable String codec;
}
