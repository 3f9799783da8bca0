package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Percentage;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Tuning")
@Label("Tuning")
@Description("The agent switched a policy on or off, or chose what to cache.")
public final class TuningEvent extends EventBase {
  @Label("Change")
  @Description("Policy switched, or choice made")
  public @Nullable String change;

  @Label("Reason")
  @Description("Why")
  public @Nullable String reason;

  @Label("Waiting")
  @Description(
      "Share of time spent waiting for data, in the last window (for a choice, in the whole job)")
  @Percentage
  public double waiting;

  @Label("Samples per Second")
  @Description("In the last window, 0 if the batch size is unknown")
  public double samplesPerSecond;
}
