package io.coordl.telemetry.event;

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
    "Requests to one other host or Redis server since the start of the job, independent of event"
        + " thresholds.")
@Period("endChunk")
public final class PeerStatisticsEvent extends EventBase {
  @Label("Peer")
  @Description("Host or Redis server that received the requests")
  public @Nullable String peer;

  @Label("Found")
  @Description("Requests answered with an item")
  public long found;

  @Label("Absent")
  @Description("Requests for items that the host did not have, and items sent but not cached there")
  public long absent;

  @Label("Kept")
  @Description("Items sent to the host and cached there")
  public long kept;

  @Label("Late")
  @Description("Requests not answered within the deadline")
  public long late;

  @Label("Failed")
  @Description("Requests that failed: no connection, a broken one, or no valid answer")
  public long failed;

  @Label("Bytes Received")
  @Description("Bytes of items received from the host")
  @DataAmount
  public long receivedBytes;

  @Label("Bytes Sent")
  @Description("Bytes of items sent to the host and cached there")
  @DataAmount
  public long sentBytes;

  @Label("Found Time")
  @Description("Time to receive items, on all threads")
  @Timespan(Timespan.NANOSECONDS)
  public long foundTime;

  @Label("Kept Time")
  @Description("Time to send items that the host cached, on all threads")
  @Timespan(Timespan.NANOSECONDS)
  public long keptTime;

  @Label("Lost Time")
  @Description("Time until late and failed requests were abandoned, on all threads")
  @Timespan(Timespan.NANOSECONDS)
  public long lostTime;

  /** Returns a snapshot, unaffected by later counts. */
  public PeerStatisticsEvent copy() {
    return (PeerStatisticsEvent) clone();
  }
}
