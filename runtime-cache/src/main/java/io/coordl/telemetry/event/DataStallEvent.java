package io.coordl.telemetry.event;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Timespan;

@Name("io.coordl.DataStall")
@Label("Data Stall")
@Description("The training thread waited for a batch.")
public final class DataStallEvent extends Batched {
  @Label("Epoch")
  @Description("Number of the epoch or evaluation")
  public long epoch;

  @Label("Wait")
  @Description("Time waited, gaps between the calls excluded")
  @Timespan(Timespan.NANOSECONDS)
  public long wait;

  @Label("Fetch Stall")
  @Description("Part of the wait during which the batch was being fetched")
  @Timespan(Timespan.NANOSECONDS)
  public long fetch;

  @Label("Prep Stall")
  @Description("Part of the wait during which the batch or its data set was being prepared")
  @Timespan(Timespan.NANOSECONDS)
  public long prep;

  @Label("Data Set Stall")
  @Description("Part of the prep stall during which the data set was being prepared")
  @Timespan(Timespan.NANOSECONDS)
  @Added("0.2.0")
  public long dataSet;

  @Label("GC Stall")
  @Description("GC pauses during the wait")
  @Timespan(Timespan.NANOSECONDS)
  public long gc;

  @Label("Queueing")
  @Description("The rest: hand-over, and waiting for a worker to start")
  @Timespan(Timespan.NANOSECONDS)
  public long queue;
}
