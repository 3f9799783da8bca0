package io.coordl.telemetry.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Fetch")
@Label("Fetch")
@Description("Fetching one item took 0.1 ms or longer; written when the item is closed.")
public final class FetchEvent extends Batched {
  /** Faster fetches are only counted: a warm page cache would flood the recording. */
  public static final long SLOW_NANOS = 100_000;

  @Label("Path")
  @Description("File of the item")
  public @Nullable String path;

  @Label("Bytes")
  @Description("Bytes read")
  @DataAmount
  public long bytes;

  @Label("Fetch Time")
  @Description("Time inside open and read calls")
  @Timespan(Timespan.NANOSECONDS)
  public long fetchTime;

  @Label("From Memory")
  @Description("True if a store of this host had the item")
  public boolean memory;

  @Label("Origin")
  @Description("Most distant source of its bytes: memory, peer or storage")
  public @Nullable String origin;
}
