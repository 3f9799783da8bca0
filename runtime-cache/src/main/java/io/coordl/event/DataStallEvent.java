package io.coordl.event;

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
  @Description("Share of the wait on the batch being fetched")
  @Timespan(Timespan.NANOSECONDS)
  public long fetch;

  @Label("Prep Stall")
  @Description("Share of the wait on decode, transforms and assembly")
  @Timespan(Timespan.NANOSECONDS)
  public long prep;

  @Label("GC Stall")
  @Description("Garbage collection pauses inside the wait")
  @Timespan(Timespan.NANOSECONDS)
  public long gc;

  @Label("Queueing")
  @Description("Rest: hand-over and waiting for a worker to start")
  @Timespan(Timespan.NANOSECONDS)
  public long queue;
}
