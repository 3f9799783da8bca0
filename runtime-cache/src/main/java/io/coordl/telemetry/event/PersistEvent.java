package io.coordl.telemetry.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Persist")
@Label("Persist")
@Description("An attempt to write a model file, force it to disk and move it into place.")
public final class PersistEvent extends EventBase {
  @Label("Target")
  @Description("Path of the file")
  public @Nullable String target;

  @Label("Size")
  @Description("Length of the file")
  @DataAmount
  public long bytes;

  @Label("In Background")
  @Description("Whether the job continued during the write")
  public boolean background;

  @Label("Failure")
  @Description("Why the write failed, empty if it succeeded")
  public @Nullable String failure;
}
