package io.coordl.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/** A model file was put into place; its duration is how long that took. */
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
  @Description("Whether the job continued meanwhile")
  public boolean background;

  @Label("Failure")
  @Description("Why it could not be written, empty if it was")
  public @Nullable String failure;
}
