package io.coordl.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** The program wrote a model. */
@Name("io.coordl.Checkpoint")
@Label("Checkpoint")
@Description("The program wrote a model.")
@Category("CoorDL")
@Registered(false)
@StackTrace(false)
public final class CheckpointEvent extends Event {
  @Label("Model")
  @Description("Class of the model")
  public @Nullable String model;

  @Label("Target")
  @Description("File or directory, if known")
  public @Nullable String target;
}
