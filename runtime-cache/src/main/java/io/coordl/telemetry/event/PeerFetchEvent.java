package io.coordl.telemetry.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.PeerFetch")
@Label("Peer Fetch")
@Description(
    "A request to another host or to Redis, to get or cache an item, took 0.1 ms or longer, was"
        + " late or failed.")
public final class PeerFetchEvent extends Batched {
  @Label("Peer")
  @Description("Host or Redis server that received the request")
  public @Nullable String peer;

  @Label("Answer")
  @Description("found, absent, kept (the host cached it), late (not within the deadline) or failed")
  public @Nullable String answer;

  @Label("Bytes")
  @Description("Bytes of the item that crossed the network, in either direction")
  @DataAmount
  public long bytes;

  @Label("Answer Time")
  @Description("From the request to the complete answer")
  @Timespan(Timespan.NANOSECONDS)
  public long answerTime;
}
