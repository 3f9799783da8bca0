package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Configuration")
@Label("Configuration")
@Description("One argument of the agent, as parsed.")
@Period("endChunk")
public final class ConfigurationEvent extends EventBase {
  @Label("Key")
  @Description("Argument")
  public @Nullable String key;

  @Label("Value")
  @Description("Effective value")
  public @Nullable String value;

  @Label("Origin")
  @Description("default, argument, file, environment, or the key that implies the value")
  public @Nullable String origin;
}
