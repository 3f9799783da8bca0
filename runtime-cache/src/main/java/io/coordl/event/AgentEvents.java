package io.coordl.event;

import java.util.List;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;

/**
 * Every event of the agent. None registers itself with JFR: the first that did would load the
 * descriptions of all events of the JVM, a quarter of a second of CPU, though most jobs record with
 * the agent alone.
 */
public final class AgentEvents {
  /** Their classes. */
  public static final List<Class<? extends Event>> ALL =
      List.of(
          BatchEvent.class,
          CheckpointEvent.class,
          ConfigurationEvent.class,
          DataStallEvent.class,
          DecodeEvent.class,
          EpochEvent.class,
          FaultEvent.class,
          FetchEvent.class,
          HostEvent.class,
          JobStatisticsEvent.class,
          LatencyStatisticsEvent.class,
          PeerFetchEvent.class,
          PeerStatisticsEvent.class,
          PhaseEvent.class,
          RewrittenEvent.class,
          StagingStatisticsEvent.class,
          StepEvent.class,
          StoreStatisticsEvent.class,
          TransformEvent.class);

  private AgentEvents() {}

  /** From now on they are part of the recordings of JFR; any thread, any number of times. */
  public static void register() {
    ALL.forEach(FlightRecorder::register);
  }
}
