package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Transform")
@Label("Transform")
@Description("One transform of one sample or batch took 1 ms or longer.")
@Threshold("1 ms")
public final class TransformEvent extends Batched {
  @Label("Transform")
  @Description("Class of the transform")
  public @Nullable String transform;
}
