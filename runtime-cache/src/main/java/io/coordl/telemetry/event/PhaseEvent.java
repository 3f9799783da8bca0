package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/**
 * One phase of a profile was measured, or could not be. All figures cover its steady state, without
 * warm-up steps. A phase measured with several numbers of workers yields one event for each.
 */
@Name("io.coordl.Phase")
@Label("Profile Phase")
@Description("One phase of a profile was measured, or could not be.")
public final class PhaseEvent extends Figures {
  @Label("Phase")
  @Description(
      "ingestion, cached or cold: with training steps; prep or fetch: that stage alone;"
          + " accelerator: with emulated steps")
  public @Nullable String phase;

  @Label("Workers")
  @Description(
      "Threads that prepare (in the phase fetch: read) besides the training thread, 0 if it"
          + " prepares itself")
  public long workers;

  @Label("Warm-up Steps")
  @Description("Steps before the steady state, not counted")
  public long warmupSteps;

  @Label("Steps")
  @Description("Steps counted")
  public long steps;

  @Label("Time per Sample")
  @Description("Mean time of one sample in nanoseconds")
  public double sampleNanos;

  @Label("Error of Time per Sample")
  @Description("Half width of the 95 % confidence interval of that mean in nanoseconds")
  public double sampleNanosError;

  @Label("Steady")
  @Description("False if it ended before its confidence interval was as narrow as required")
  public boolean steady;

  @Label("Note")
  @Description("Why it was not measured, or how it was")
  public @Nullable String note;

  public PhaseEvent since(PhaseEvent earlier) {
    PhaseEvent since = new PhaseEvent();
    since.add(this);
    since.subtract(earlier);
    return since;
  }
}
