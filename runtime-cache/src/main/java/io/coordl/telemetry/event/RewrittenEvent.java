package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Rewritten")
@Label("Rewritten")
@Description("A rule was applied to one call site or method, or skipped for the reason given.")
public final class RewrittenEvent extends EventBase {
  @Label("Class")
  @Description("Class, or the whole job")
  public @Nullable String type;

  @Label("Rule")
  @Description("Rule or policy of the agent")
  public @Nullable String rule;

  @Label("Sites")
  @Description("1 if rewritten, 0 if skipped")
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
