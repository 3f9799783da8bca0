package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Percentage;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Tuning")
@Label("Tuning")
@Description("The agent switched a policy on or off, or chose what to keep.")
public final class TuningEvent extends EventBase {
  @Label("Change")
  @Description("Policy switched, or choice made")
  public @Nullable String change;

  @Label("Reason")
  @Description("Why")
  public @Nullable String reason;

  @Label("Waiting")
  @Description("Share of the last window spent waiting for data; of the whole job for a choice")
  @Percentage
  public double waiting;

  @Label("Samples per Second")
  @Description("In the last window, 0 if the size of a batch is unknown")
  public double samplesPerSecond;
}
