package io.coordl.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.PeerStatistics")
@Label("Peer Statistics")
@Description(
    "What was asked of one other host since the start of the job, whatever the thresholds.")
@Period("endChunk")
public final class PeerStatisticsEvent extends EventBase {
  @Label("Peer")
  @Description("Host asked")
  public @Nullable String peer;

  @Label("Found")
  @Description("Questions answered with an item")
  public long found;

  @Label("Absent")
  @Description("Questions answered by not having the item")
  public long absent;

  @Label("Kept")
  @Description("Items sent there and kept there")
  public long kept;

  @Label("Late")
  @Description("Questions not answered within the deadline")
  public long late;

  @Label("Failed")
  @Description("Questions not answered: no connection, a broken one, or no answer")
  public long failed;

  @Label("Bytes Received")
  @Description("Bytes of items that came from there")
  @DataAmount
  public long receivedBytes;

  @Label("Bytes Sent")
  @Description("Bytes of items that went there")
  @DataAmount
  public long sentBytes;

  @Label("Found Time")
  @Description("Until items were here, on all threads")
  @Timespan(Timespan.NANOSECONDS)
  public long foundTime;

  @Label("Kept Time")
  @Description("Until items were there, on all threads")
  @Timespan(Timespan.NANOSECONDS)
  public long keptTime;

  @Label("Lost Time")
  @Description("Until late and failed questions were given up, on all threads")
  @Timespan(Timespan.NANOSECONDS)
  public long lostTime;

  /** As it is now, whatever is counted later. */
  public PeerStatisticsEvent copy() {
    return (PeerStatisticsEvent) clone();
  }
}
