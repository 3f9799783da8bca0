package io.coordl.telemetry.recording;

import io.coordl.host.AgentThread;
import io.coordl.telemetry.event.AgentEvents;
import io.coordl.telemetry.event.ConfigurationEvent;
import io.coordl.telemetry.event.EventSink;
import io.coordl.telemetry.event.GpuStatisticsEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.LibraryEvent;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.event.VerdictEvent;
import java.util.List;
import java.util.function.Supplier;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.RecordingState;

/**
 * Adds the agent's events to the user's own JFR recordings, whether already running or started
 * later ({@code jcmd JFR.start}). The agent never starts JFR.
 */
record JfrEvents(JobFigures job) implements EventSink, FlightRecorderListener {
  /** Starts writing events and totals to every recording of the user. */
  void listen() {
    FlightRecorder.addListener(this);
  }

  /** Whether a JFR recording is running. */
  static boolean isRecording() {
    return FlightRecorder.isInitialized()
        && FlightRecorder.getFlightRecorder().getRecordings().stream()
            .anyMatch(recording -> recording.getState() == RecordingState.RUNNING);
  }

  @Override
  public void write(Event event, long start, long end) {
    event.commit();
  }

  /** Runs on the thread that starts JFR, which must not see a failure. */
  @Override
  public void recorderInitialized(FlightRecorder recorder) {
    try {
      register();
    } catch (RuntimeException | LinkageError e) {
      job.log().say("JFR recordings do not get the events of the agent (" + e + ")");
    }
  }

  private void register() {
    // JDK-8371889 (JDK 15 to 22): registering events while another thread does file I/O can
    // deadlock unless the recorder and the JDK's own file events are initialized first.
    for (String name : List.of("Handlers", "EventConfigurations")) {
      try {
        Class.forName("jdk.jfr.events." + name);
      } catch (ClassNotFoundException e) {
        // Other JDK versions lack this class.
      }
    }
    AgentEvents.register();
    atChunkEnd(ConfigurationEvent.class, job::configuration);
    atChunkEnd(JobStatisticsEvent.class, () -> List.of(job.totals()));
    atChunkEnd(LatencyStatisticsEvent.class, job::latencies);
    atChunkEnd(LibraryEvent.class, job::libraries);
    atChunkEnd(VerdictEvent.class, job::verdicts);
    atChunkEnd(StoreStatisticsEvent.class, job::stores);
    atChunkEnd(StagingStatisticsEvent.class, job::stagings);
    atChunkEnd(PeerStatisticsEvent.class, job::peerViews);
    atChunkEnd(GpuStatisticsEvent.class, job::gpus);
  }

  /** Registers each kind separately: the user may disable it, or change its period. */
  private void atChunkEnd(Class<? extends Event> type, Supplier<List<? extends Event>> totals) {
    FlightRecorder.addPeriodicEvent(
        type,
        () -> {
          // JFR may end before the agent does; its recording must include the last epochs.
          if (jvmEnds()) {
            job.freeze();
          }
          totals.get().forEach(this::write);
        });
  }

  private static boolean jvmEnds() {
    Thread unstarted = new AgentThread("coordl-never", () -> {});
    try {
      Runtime.getRuntime().addShutdownHook(unstarted);
      Runtime.getRuntime().removeShutdownHook(unstarted);
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }
}
