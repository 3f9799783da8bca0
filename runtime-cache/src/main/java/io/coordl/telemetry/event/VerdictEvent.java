package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import org.jspecify.annotations.Nullable;

/** Advice names no policy that has been refused, in this job or in the recording of it. */
@Name("io.coordl.Verdict")
@Label("Verdict")
@Description("Whether a policy, in force or not, can work on data of the job, and why not.")
@Period("endChunk")
public final class VerdictEvent extends EventBase {
  @Label("Policy")
  @Description("Argument of the policy, as prepared=share")
  public @Nullable String policy;

  @Label("Source")
  @Description("Class of the data set, iterator or batches; empty for the whole job")
  public @Nullable String source;

  @Label("Allowed")
  @Description("Whether the policy can work on it")
  public boolean allowed;

  @Label("Reason")
  @Description("What in the program prevents it, or which part of it the policy covers")
  public @Nullable String reason;

  @Label("Remedy")
  @Description("Argument with which it would be allowed, empty if there is none")
  public @Nullable String remedy;
}
