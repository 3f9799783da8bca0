package io.coordl.recording;

import io.coordl.event.AgentEvents;
import io.coordl.event.EventSink;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.thread.AgentThread;
import java.util.List;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.RecordingState;

/**
 * The agent's events in recordings of the user's own, whether they run already or are started later
 * ({@code jcmd JFR.start}), once it listens. The agent never starts JFR.
 */
record JfrEvents(JobMonitor job) implements EventSink, FlightRecorderListener {
  /** Totals go into every recording of the user's from now on. */
  void listen() {
    FlightRecorder.addListener(this);
  }

  static boolean recording() {
    return FlightRecorder.isInitialized()
        && FlightRecorder.getFlightRecorder().getRecordings().stream()
            .anyMatch(recording -> recording.getState() == RecordingState.RUNNING);
  }

  @Override
  public void write(Event event, long start, long end) {
    event.commit();
  }

  @Override
  public void recorderInitialized(FlightRecorder recorder) {
    // JDK-8371889 (JDK 15 to 22): registering events while another thread does file I/O can
    // deadlock unless the recorder and the JDK's own file events come first.
    for (String name : List.of("Handlers", "EventConfigurations")) {
      try {
        Class.forName("jdk.jfr.events." + name);
      } catch (ClassNotFoundException e) {
        // Of another JDK version.
      }
    }
    AgentEvents.register();
    FlightRecorder.addPeriodicEvent(
        JobStatisticsEvent.class,
        () -> {
          // JFR and the agent end at the same time: whoever is first, the last epochs are in.
          if (jvmEnds()) {
            job.freeze();
          }
          job.statistics().forEach(this::write);
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
}
