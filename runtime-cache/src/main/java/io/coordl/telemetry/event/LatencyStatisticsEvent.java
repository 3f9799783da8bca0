package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.LatencyStatistics")
@Label("Latency Statistics")
@Description(
    "Distribution of one kind of span, independent of event thresholds; counts and totals are"
        + " exact, percentiles within 1 %.")
@Period("endChunk")
public final class LatencyStatisticsEvent extends EventBase {
  @Label("Kind")
  @Description(
      "Kind of span: fetch, decode, transform, batch, stall, step, checkpoint, or peer and the"
          + " answer, as in peer found")
  public @Nullable String kind;

  @Label("Epoch")
  @Description("Epoch or evaluation of the spans; 0 for the whole job")
  public long epoch;

  @Label("Count")
  @Description("Number of spans")
  public long count;

  @Label("Total")
  @Description("Sum of durations")
  @Timespan(Timespan.NANOSECONDS)
  public long total;

  @Label("Minimum")
  @Description("Shortest")
  @Timespan(Timespan.NANOSECONDS)
  public long minimum;

  @Label("Mean")
  @Description("Average")
  @Timespan(Timespan.NANOSECONDS)
  public long mean;

  @Label("50th Percentile")
  @Description("Median")
  @Timespan(Timespan.NANOSECONDS)
  public long p50;

  @Label("90th Percentile")
  @Description("90 percent are shorter")
  @Timespan(Timespan.NANOSECONDS)
  public long p90;

  @Label("99th Percentile")
  @Description("99 percent are shorter")
  @Timespan(Timespan.NANOSECONDS)
  public long p99;

  @Label("99.9th Percentile")
  @Description("99.9 percent are shorter")
  @Timespan(Timespan.NANOSECONDS)
  public long p999;

  @Label("Maximum")
  @Description("Longest")
  @Timespan(Timespan.NANOSECONDS)
  public long maximum;

  @Label("Histogram")
  @Description("HdrHistogram of nanoseconds, compressed, base64")
  public @Nullable String histogram;
}
