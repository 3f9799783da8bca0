package io.coordl.reports.differential;

import io.coordl.reports.recording.JobRecording;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The phases found in one or several recordings. If a recording repeats a phase, the last one
 * counts.
 *
 * @param recordings all of them, in the order given
 * @param timings by name: ingestion, cached, cold
 * @param attributions the agent's live attribution during each of these phases
 * @param alone prep and fetch measured alone, for each number of workers
 * @param missing the phases that were not found, and why
 */
record Phases(
    List<JobRecording> recordings,
    Map<String, Timing> timings,
    Map<String, Attribution> attributions,
    List<Timing> alone,
    List<Missing> missing) {

  static final String INGESTION = "ingestion";
  static final String CACHED = "cached";
  static final String COLD = "cold";
  static final String PREP = "prep";
  static final String FETCH = "fetch";

  private static final List<String> THREE = List.of(INGESTION, CACHED, COLD);

  /** Collects the phases. A recording without phases is identified by its position among three. */
  static Phases of(List<JobRecording> recordings) {
    Map<String, Timing> timings = new LinkedHashMap<>();
    Map<String, Attribution> attributions = new LinkedHashMap<>();
    List<Missing> missing = new ArrayList<>();
    for (int i = 0; i < THREE.size(); i++) {
      String name = THREE.get(i);
      JobRecording atPosition = recordings.size() < THREE.size() ? null : recordings.get(i);
      Optional<Found> measured = measured(recordings, atPosition, name);
      if (measured.isPresent()) {
        Found found = measured.get();
        timings.put(name, Timing.of(found.file(), found.phase()));
        attributions.put(name, new Attribution(found.file(), name, found.phase(), found.cores()));
      } else if (atPosition != null && atPosition.phases().isEmpty()) {
        Timing.ofEpochs(name, atPosition)
            .ifPresentOrElse(
                timing -> timings.put(name, timing),
                () -> missing.add(new Missing(name, tooFewEpochs(atPosition))));
      } else {
        missing.add(new Missing(name, notMeasured(recordings, name)));
      }
    }
    return new Phases(recordings, timings, attributions, alone(recordings), List.copyOf(missing));
  }

  private record Found(String file, PhaseEvent phase, double cores) {}

  /** Finds a phase; the recording at the phase's own position takes precedence. */
  private static Optional<Found> measured(
      List<JobRecording> recordings, @Nullable JobRecording atPosition, String name) {
    return Stream.concat(Stream.ofNullable(atPosition), recordings.stream())
        .flatMap(recording -> last(recording, name).stream())
        .findFirst();
  }

  private static Optional<Found> last(JobRecording recording, String name) {
    return recording.phases().stream()
        .filter(phase -> name.equals(phase.phase) && isMeasured(phase))
        .reduce((earlier, later) -> later)
        .map(phase -> new Found(recording.file().toString(), phase, recording.usableCores()));
  }

  private static boolean isMeasured(PhaseEvent phase) {
    return phase.steps > 0
        && phase.samples > 0
        && phase.wall > 0
        && phase.sampleNanos > 0
        && Double.isFinite(phase.sampleNanos)
        && phase.sampleNanosError >= 0
        && Double.isFinite(phase.sampleNanosError);
  }

  private static List<Timing> alone(List<JobRecording> recordings) {
    Map<String, Timing> latest = new LinkedHashMap<>();
    for (JobRecording recording : recordings) {
      recording.phases().stream()
          .filter(phase -> PREP.equals(phase.phase) || FETCH.equals(phase.phase))
          .filter(Phases::isMeasured)
          .forEach(
              phase ->
                  latest.put(
                      phase.phase + phase.workers, Timing.of(recording.file().toString(), phase)));
    }
    return latest.values().stream()
        .sorted(Comparator.comparing(Timing::phase).thenComparing(Timing::threads))
        .toList();
  }

  private static String tooFewEpochs(JobRecording recording) {
    return recording.file()
        + " has neither a profile nor three complete epochs, so the spread of its times is"
        + " unknown: let the job train three epochs, or record it with profile=all.";
  }

  private static String notMeasured(List<JobRecording> recordings, String name) {
    Optional<String> note =
        recordings.stream()
            .flatMap(recording -> recording.phases().stream())
            .filter(phase -> name.equals(phase.phase))
            .flatMap(phase -> Stream.ofNullable(phase.note))
            .filter(text -> !text.isBlank())
            .findFirst();
    boolean requested =
        recordings.stream()
            .map(recording -> recording.configuration().getOrDefault("profile", "off"))
            .anyMatch(phases -> phases.equals("all") || phases.equals(name));
    if (note.isPresent()) {
      return "the phase was tried, but nothing was measured: " + note.get();
    }
    if (requested) {
      return Text.format(
          "the profile ended before the phase %s was measured; the agent's output during the run"
              + " shows why.",
          name);
    }
    return Text.format(
        "%s not contain the phase %s: record it with profile=%s, or all phases with profile=all.",
        recordings.size() == 1 ? recordings.get(0).file() + " does" : "the recordings do",
        name,
        name);
  }

  /** Returns the recording at the position of the cold phase. */
  JobRecording cold() {
    return recordings.get(THREE.indexOf(COLD));
  }

  Optional<Timing> timing(String name) {
    return Optional.ofNullable(timings.get(name));
  }

  /** Returns the stage measured alone with the number of threads closest to the pipeline's. */
  Optional<Timing> alone(String name, long workers) {
    return alone.stream()
        .filter(timing -> timing.phase().equals(name))
        .min(Comparator.comparingLong(timing -> Math.abs(timing.threads() - workers)));
  }
}
