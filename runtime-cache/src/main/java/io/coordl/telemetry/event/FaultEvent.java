package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Fault")
@Label("Fault")
@Description("Something inside the agent failed; the program continues.")
public final class FaultEvent extends EventBase {
  @Label("Where")
  @Description("Operation that failed")
  public @Nullable String where;

  @Label("Cause")
  @Description("Exception")
  public @Nullable String cause;

  @Label("Action")
  @Description("What happens now")
  public @Nullable String action;
}
