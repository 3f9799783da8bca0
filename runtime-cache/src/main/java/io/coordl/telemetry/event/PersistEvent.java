package io.coordl.telemetry.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/** A model file was put into place; the duration is the time this took. */
@Name("io.coordl.Persist")
@Label("Persist")
@Description("A model file was written, forced to disk and put into place.")
public final class PersistEvent extends EventBase {
  @Label("Target")
  @Description("The file")
  public @Nullable String target;

  @Label("Size")
  @Description("Its length")
  @DataAmount
  public long bytes;

  @Label("In Background")
  @Description("Whether the job continued during the write")
  public boolean background;

  @Label("Failure")
  @Description("Why the write failed, empty if it succeeded")
  public @Nullable String failure;
}
