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
  @Description("Argument of the policy, such as prepared=share; prefetch stands for any number")
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

  /** Returns a verdict; the fields describe the parameters. */
  public static VerdictEvent of(
      String policy, String source, boolean allowed, String reason, String remedy) {
    VerdictEvent verdict = new VerdictEvent();
    verdict.policy = policy;
    verdict.source = source;
    verdict.allowed = allowed;
    verdict.reason = reason;
    verdict.remedy = remedy;
    return verdict;
  }

  /** Returns the verdict that {@code decoded=share} has no images of the job to cache. */
  public static VerdictEvent programDecodes() {
    return of(
        "decoded=share",
        "",
        false,
        "the program itself decodes images from streams, with ImageIO.read",
        "");
  }
}
