package io.coordl.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Rewritten")
@Label("Rewritten")
@Description("A rule was applied to a class, or left it alone and why.")
public final class RewrittenEvent extends EventBase {
  @Label("Class")
  @Description("Class of the program")
  public @Nullable String type;

  @Label("Rule")
  @Description("Rule of the agent")
  public @Nullable String rule;

  @Label("Sites")
  @Description("Places rewritten")
  public long sites;

  @Label("Outcome")
  @Description("rewritten or skipped")
  public @Nullable String outcome;

  @Label("Reason")
  @Description("Why it was skipped")
  public @Nullable String reason;

  @Label("Proven On")
  @Description("Library versions the rule was proven on")
  public @Nullable String provenOn;
}
