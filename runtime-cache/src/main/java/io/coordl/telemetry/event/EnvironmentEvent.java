package io.coordl.telemetry.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Environment")
@Label("Environment")
@Description("Host, limits and libraries of the job.")
@Period("endChunk")
public final class EnvironmentEvent extends EventBase {
  @Label("Agent")
  @Description("Version of the agent")
  public @Nullable String agent;

  @Label("Recording")
  @Description("File that the agent writes; none if it only adds to the user's own recording")
  public @Nullable String recording;

  @Label("Libraries")
  @Description("Training libraries, with the versions from their jar names")
  public @Nullable String libraries;

  @Label("Host")
  @Description("Name of the host or container")
  public @Nullable String host;

  @Label("Operating System")
  @Description("Operating system, its version and architecture")
  public @Nullable String system;

  @Label("Cores")
  @Description("Cores this JVM may use")
  public long cores;

  @Label("CPU Limit")
  @Description("Cores that the control groups' quotas allow, 0 without a quota")
  @Added("0.2.0")
  public double cpuLimit;

  @Label("Memory")
  @Description("Memory of the host or of the container, whichever has less available")
  @DataAmount
  public long memory;

  /** Returns the cores that the job may use, within its quota; 0 if unknown. */
  public double usableCores() {
    return cpuLimit > 0 ? Math.min((double) cores, cpuLimit) : (double) cores;
  }
}
