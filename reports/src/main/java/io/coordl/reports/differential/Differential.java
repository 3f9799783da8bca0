package io.coordl.reports.differential;

import io.coordl.reports.recording.JobRecording;
import io.coordl.telemetry.advice.Part;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The parts of an epoch's time, derived from the differences between phases. Serialised to the JSON
 * that {@code differential.schema.json} describes; an incompatible change increments {@link
 * #SCHEMA_VERSION}. Times are in nanoseconds, those of {@link #shares} per {@link #unit}; rates are
 * in units per second. Unknown figures are omitted, and {@link #missing} gives the reasons.
 *
 * <p>Let t1 be the time of a sample whose batch is already prepared (ingestion), t2 of one prepared
 * from memory (cached), and t3 of one fetched from storage (cold). Then compute is t1, the prep
 * stall t2 - t1, and the fetch stall t3 - t2. This is the method of DS-Analyzer (VLDB'21). Garbage
 * collection pauses inside the waits are subtracted from both stalls. A negative difference counts
 * as 0 and yields a remark.
 *
 * @param unit {@code sample}, or {@code batch} if a recording lacks the number of samples per batch
 * @param samplesPerBatch absent if no recording has it
 * @param workers preparing threads besides the training thread, 0 if the training thread prepares;
 *     absent if unknown
 * @param timings the measurements of each phase
 * @param shares one per {@link Part}, named by {@link Part#field}: first those that the phases
 *     determine, then those known only from the live attribution
 * @param live source of {@link Share#live}; absent if there is none
 * @param ingestionRate DS-Analyzer's rate G: training on prepared batches
 * @param prepRate DS-Analyzer's rate P: preparation by the pipeline's own workers
 * @param fetchRate DS-Analyzer's rate F: fetching from storage
 * @param limit the largest of the parts that the phases determine; {@code unknown} if a phase is
 *     missing or measurement errors are too large to decide
 * @param missing figures that could not be determined
 * @param remarks caveats for the reader: recordings that differ, phases that did not become steady
 */
public record Differential(
    int schemaVersion,
    List<String> recordings,
    @Nullable String mainClass,
    @Nullable String frameworks,
    String unit,
    @Nullable Double samplesPerBatch,
    @Nullable Long workers,
    List<Timing> timings,
    List<Share> shares,
    @Nullable Attribution live,
    @Nullable Measure ingestionRate,
    @Nullable Measure prepRate,
    @Nullable Measure fetchRate,
    String limit,
    List<Missing> missing,
    List<String> remarks) {

  static final int SCHEMA_VERSION = 1;

  static final String UNKNOWN = "unknown";

  /**
   * A part of an epoch.
   *
   * @param nanos time per unit; absent if the phases do not determine it
   * @param share share of the cold time of a unit, 0 to 1; absent if the phases do not determine it
   * @param live the same share as attributed live by the agent, 0 to 1
   * @param difference {@code live} minus {@code share}
   */
  public record Share(
      String part,
      @Nullable Measure nanos,
      @Nullable Measure share,
      @Nullable Double live,
      @Nullable Double difference) {}

  /** Analyses one recording of a profile; any figure may be missing, with a reason. */
  public static Differential of(JobRecording profile) {
    return of(List.of(profile), Optional.empty());
  }

  /**
   * Analyses one recording of a profile, or three recordings. A profile among the three is
   * identified by its phase, an ordinary recording by its position: ingestion, cached, cold.
   *
   * @param ordinary recording of an ordinary run of the same job, for the live attribution
   */
  public static Differential of(List<JobRecording> recordings, Optional<JobRecording> ordinary) {
    return new Analysis(Phases.of(recordings), ordinary).differential();
  }
}
