package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Rewritten")
@Label("Rewritten")
@Description("A rule was applied to a class, or skipped for the reason given.")
public final class RewrittenEvent extends EventBase {
  @Label("Class")
  @Description("Class of the program")
  public @Nullable String type;

  @Label("Rule")
  @Description("Rule of the agent")
  public @Nullable String rule;

  @Label("Sites")
  @Description("Call sites rewritten")
  public long sites;

  @Label("Outcome")
  @Description("rewritten or skipped")
  public @Nullable String outcome;

  @Label("Reason")
  @Description("Why it was skipped")
  public @Nullable String reason;

  @Label("Proven On")
  @Description("Library versions the rule was tested with")
  public @Nullable String provenOn;
}
