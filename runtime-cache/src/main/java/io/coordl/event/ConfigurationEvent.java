package io.coordl.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** One argument of the agent as understood. */
@Name("io.coordl.Configuration")
@Label("Configuration")
@Description("One argument of the agent as understood.")
@Category("CoorDL")
@Registered(false)
@StackTrace(false)
@Period("endChunk")
public final class ConfigurationEvent extends Event {
  @Label("Key")
  @Description("Argument")
  public @Nullable String key;

  @Label("Value")
  @Description("Value in force")
  public @Nullable String value;

  @Label("Origin")
  @Description("default, argument, file or environment")
  public @Nullable String origin;
}
