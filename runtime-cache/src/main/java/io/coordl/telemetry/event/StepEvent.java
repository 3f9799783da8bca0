package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Timespan;

@Name("io.coordl.Step")
@Label("Step")
@Description("The training thread computed between taking a batch and requesting the next.")
public final class StepEvent extends Batched {
  @Label("Epoch")
  @Description("Number of the epoch or evaluation")
  public long epoch;

  @Label("Compute")
  @Description("Compute time, without waits and checkpoints")
  @Timespan(Timespan.NANOSECONDS)
  public long compute;

  @Label("Checkpoint")
  @Description("Part of the step spent writing models")
  @Timespan(Timespan.NANOSECONDS)
  public long checkpoint;

  @Label("Waiting for a Core")
  @Description("Part of compute during which the training thread waited for a core")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long coreWait;
}
