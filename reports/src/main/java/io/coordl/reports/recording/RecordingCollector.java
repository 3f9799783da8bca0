package io.coordl.reports.recording;

import io.coordl.reports.recording.RecordingException.Kind;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Takes the events of a recording that somebody else has read, and says what {@link
 * RecordingReader} would say of it. Confined to one thread.
 */
public final class RecordingCollector {
  private final Collector collector = new Collector();
  private final Map<String, Consumer<JobEvent>> takers = collector.takers();
  private long taken;

  /** Names of the event types that it takes. */
  public Set<String> types() {
    return Set.copyOf(takers.keySet());
  }

  /**
   * Takes one event, in any order.
   *
   * @param type one of {@link #types}
   * @throws RecordingException if another version of the agent wrote it
   */
  public void take(String type, JobEvent event) throws RecordingException {
    try {
      Objects.requireNonNull(takers.get(type), type).accept(event);
      taken++;
    } catch (EventReader.MissingFieldException missing) {
      throw new RecordingException(
          Kind.OTHER_VERSION,
          String.format(
              "The recording was written by another version of the agent: %s.",
              missing.getMessage()));
    }
  }

  /**
   * What the events taken so far say.
   *
   * @param name what to call the recording
   * @throws RecordingException if they are of several runs
   */
  public JobRecording recording(Path name) throws RecordingException {
    if (collector.jvms().size() > 1 || collector.severalJobs()) {
      throw new RecordingException(
          Kind.SEVERAL_RUNS, "The events are of more than one run: open each recording alone.");
    }
    return collector.recording(name, 0, taken, false);
  }
}
