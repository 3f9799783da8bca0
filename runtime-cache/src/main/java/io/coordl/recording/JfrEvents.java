package io.coordl.recording;

import io.coordl.event.AgentEvents;
import io.coordl.event.ConfigurationEvent;
import io.coordl.event.EventSink;
import io.coordl.event.GpuStatisticsEvent;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.event.LatencyStatisticsEvent;
import io.coordl.event.PeerStatisticsEvent;
import io.coordl.event.StagingStatisticsEvent;
import io.coordl.event.StoreStatisticsEvent;
import io.coordl.thread.AgentThread;
import java.util.function.Consumer;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.RecordingState;

/**
 * The agent's events in recordings of the user's own, whether they run already or are started later
 * ({@code jcmd JFR.start}). The agent never starts JFR.
 */
final class JfrEvents implements EventSink, FlightRecorderListener {
  private final Statistics statistics;
  private final Runnable jobEnds;

  /**
   * Events that nobody hears of before {@link #listen}.
   *
   * @param jobEnds writes what is only written at the end of the job; may be called again
   */
  JfrEvents(Statistics statistics, Runnable jobEnds) {
    this.statistics = statistics;
    this.jobEnds = jobEnds;
  }

  /** Totals go into every recording of the user's from now on. */
  void listen() {
    FlightRecorder.addListener(this);
  }

  /** Whether the user records already. */
  static boolean recording() {
    return FlightRecorder.isInitialized()
        && FlightRecorder.getFlightRecorder().getRecordings().stream()
            .anyMatch(recording -> recording.getState() == RecordingState.RUNNING);
  }

  @Override
  public boolean wants(Event event) {
    return event.shouldCommit();
  }

  @Override
  public void write(Event event, long start, long end) {
    event.commit();
  }

  @Override
  public void recorderInitialized(FlightRecorder recorder) {
    // JDK-8371889 (JDK 15 to 22): registering events while another thread does file I/O can
    // deadlock unless the recorder and the JDK's own file events come first.
    preload("jdk.jfr.events.Handlers");
    preload("jdk.jfr.events.EventConfigurations");
    AgentEvents.register();
    atChunkEnd(ConfigurationEvent.class, statistics::configuration);
    atChunkEnd(JobStatisticsEvent.class, statistics::job);
    atChunkEnd(LatencyStatisticsEvent.class, statistics::latencies);
    atChunkEnd(StoreStatisticsEvent.class, statistics::stores);
    atChunkEnd(StagingStatisticsEvent.class, statistics::stagings);
    atChunkEnd(PeerStatisticsEvent.class, statistics::peers);
    atChunkEnd(GpuStatisticsEvent.class, statistics::gpus);
  }

  private void atChunkEnd(Class<? extends Event> type, Consumer<EventSink> totals) {
    FlightRecorder.addPeriodicEvent(
        type,
        () -> {
          // JFR and the agent end at the same time: whoever is first, the last epochs are in.
          if (jvmEnds()) {
            jobEnds.run();
          }
          totals.accept(this);
        });
  }

  private static boolean jvmEnds() {
    Thread never = new AgentThread("coordl-never", () -> {});
    try {
      Runtime.getRuntime().addShutdownHook(never);
      Runtime.getRuntime().removeShutdownHook(never);
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  private static void preload(String name) {
    try {
      Class.forName(name);
    } catch (ClassNotFoundException e) {
      // Of another JDK version.
    }
  }
}
