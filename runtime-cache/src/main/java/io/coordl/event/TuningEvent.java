package io.coordl.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Percentage;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Tuning")
@Label("Tuning")
@Description("A policy was switched on or off by the agent, or it chose what to keep.")
public final class TuningEvent extends EventBase {
  @Label("Change")
  @Description("What was switched or chosen")
  public @Nullable String change;

  @Label("Reason")
  @Description("Why")
  public @Nullable String reason;

  @Label("Waiting")
  @Description(
      "Part of the last window that the job waited for data; of the whole job for what is chosen")
  @Percentage
  public double waiting;

  @Label("Samples per Second")
  @Description("In the last window, 0 if the size of a batch is not known")
  public double samplesPerSecond;
}
