package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import org.jspecify.annotations.Nullable;

/** Lets the advice skip refused policies, both in the running job and from its recording. */
@Name("io.coordl.Verdict")
@Label("Verdict")
@Description("Whether a policy, enabled or not, can work on the job's data, and if not, why.")
@Period("endChunk")
public final class VerdictEvent extends EventBase {
  @Label("Policy")
  @Description("Argument of the policy, such as prepared=share")
  public @Nullable String policy;

  @Label("Source")
  @Description("Class of the data set, iterator or batches; empty for the whole job")
  public @Nullable String source;

  @Label("Allowed")
  @Description("Whether the policy can work on this source")
  public boolean allowed;

  @Label("Reason")
  @Description("What in the program prevents it, or which part of the data the policy covers")
  public @Nullable String reason;

  @Label("Remedy")
  @Description("Argument that would allow the policy, empty if there is none")
  public @Nullable String remedy;
}
