package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Checkpoint")
@Label("Checkpoint")
@Description("A model was saved; the duration excludes its write in the background, if any.")
public final class CheckpointEvent extends EventBase {
  @Label("Model")
  @Description("Class of the model")
  public @Nullable String model;
}
