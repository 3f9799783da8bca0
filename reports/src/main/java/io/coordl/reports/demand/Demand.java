package io.coordl.reports.demand;

import io.coordl.reports.cluster.DemandTable;
import io.coordl.reports.cluster.ModelTable;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.recording.ExitStatus;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.whatif.SpeedLaw;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The resource demand of a job, serialised to JSON.
 *
 * @param schemaVersion incremented by incompatible changes
 * @param origin a profile, or an ordinary recording
 * @param workers preparing threads besides the training thread
 * @param stepCores cores that a step keeps busy
 * @param knee the smallest amounts that reach nearly the full speed, in words
 * @param measured speeds with every item in memory, by ascending number of cores
 * @param missing axes that the table lacks, and why
 */
public record Demand(
    int schemaVersion,
    List<String> recordings,
    @Nullable String mainClass,
    String origin,
    long workers,
    @Nullable Measure stepCores,
    String knee,
    DemandTable table,
    List<SpeedLaw.Measured> measured,
    List<String> assumptions,
    List<Missing> missing) {
  static final int SCHEMA_VERSION = 1;

  /**
   * Computes the demand of one job.
   *
   * @param recordings one ordinary recording, or profiles, each on a different number of cores
   * @param computeCores cores that a step keeps busy, if the user specifies it
   * @param quota whether a number of cores is a quota, as in a container, rather than a set of CPUs
   * @throws RecordingException if they contain too little for a table, or do not belong together
   */
  public static Demand of(
      List<JobRecording> recordings, @Nullable Double computeCores, boolean quota)
      throws RecordingException {
    JobRecording first = recordings.get(0);
    for (JobRecording other : recordings) {
      if (!Objects.equals(other.program(), first.program())) {
        throw new RecordingException(
            ExitStatus.WITHOUT_OUR_EVENTS,
            other.file()
                + " is a recording of '"
                + other.mainClass()
                + "', but "
                + first.file()
                + " of '"
                + first.mainClass()
                + "': give recordings of one program.");
      }
      if (recordings.size() > 1 && other.phases().isEmpty()) {
        throw new RecordingException(
            ExitStatus.WITHOUT_OUR_EVENTS,
            other.file()
                + " is not a profile: give one ordinary recording, or several profiles, each on a"
                + " different number of cores (coordl profile --fewer-cores).");
      }
    }
    SpeedLaw law = SpeedLaw.of(recordings, computeCores, quota);
    if (!law.missing().isEmpty()) {
      throw new RecordingException(
          ExitStatus.WITHOUT_OUR_EVENTS,
          first.file() + " contains too little: " + law.missing().get(0).reason());
    }
    DemandTable table = law.table(gpus(recordings));
    List<String> assumptions = new ArrayList<>(law.assumptions());
    if (quota) {
      assumptions.add("numbers of cores are quotas on a host with more cores (--quota)");
    }
    return new Demand(
        SCHEMA_VERSION,
        recordings.stream().map(recording -> recording.file().toString()).toList(),
        first.mainClass(),
        law.origin(),
        law.workers(),
        law.stepCores(),
        SpeedLaw.sentence(table),
        table,
        law.measured(),
        assumptions,
        law.missingAxes());
  }

  private static int gpus(List<JobRecording> recordings) {
    return (int)
        Math.max(
            1,
            recordings.stream()
                .mapToLong(
                    recording -> recording.gpus().stream().filter(gpu -> gpu.ownMemory > 0).count())
                .max()
                .orElse(1));
  }

  /** Returns a table with this job as its only model, named after the recording. */
  public ModelTable models(Path recording) {
    return ModelTable.of(
        String.valueOf(recording.getFileName()).replaceFirst("\\.jfr$", ""), table);
  }
}
