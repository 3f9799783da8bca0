package io.coordl.telemetry.event;

import java.util.Arrays;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import org.jspecify.annotations.Nullable;

/** Readers of a recording rely on what a library can do, never on its name. */
@Name("io.coordl.Library")
@Label("Library")
@Description("A training library that the job uses, and what the agent can do for it.")
@Period("endChunk")
public final class LibraryEvent extends EventBase {
  @Label("Name")
  @Description("Name of the library")
  public @Nullable String name;

  @Label("Packages")
  @Description("Prefixes of its class names, separated by commas")
  public @Nullable String packages;

  @Label("Prepares Ahead")
  @Description("Whether it prepares batches on its own thread")
  public boolean preparesAhead;

  @Label("Prefetched")
  @Description("Whether prefetch=N prepares the batches of its own classes")
  public boolean prefetched;

  @Label("Prepared")
  @Description("Whether prepared=share works on its samples or batches")
  public boolean prepared;

  @Label("Alone")
  @Description("Whether prep=coordinate leaves its batches to each job")
  public boolean alone;

  @Label("How To Prepare Ahead")
  @Description("How a program can make it prepare further ahead, empty if it cannot")
  public @Nullable String howToPrepareAhead;

  @Label("Calls GC")
  @Description("When it calls System.gc(), empty if it does not")
  public @Nullable String callsGc;

  /** Whether a class belongs to the library. */
  public boolean owns(String className) {
    return packages != null
        && Arrays.stream(packages.split(",", -1)).anyMatch(className::startsWith);
  }
}
