package io.coordl.reports.differential;

import io.coordl.advice.Part;
import io.coordl.reports.recording.JobRecording;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where the time of an epoch goes by the differences between phases, in the shape of its JSON:
 * {@code differential.schema.json} describes it, and a change that an old reader would not
 * understand raises {@link #SCHEMA_VERSION}. Names of times end in {@code Nanos} and are per {@link
 * #unit}; rates are in units a second; what is not known is left out, and {@link #missing} says
 * why.
 *
 * <p>With t1 the time of a sample whose batch is prepared already (ingestion), t2 that of one
 * prepared from memory (cached) and t3 that of one fetched from storage (cold): compute is t1, the
 * prep stall t2 - t1, the fetch stall t3 - t2. Pauses for garbage collection inside the waits are
 * taken out of either. Where a difference is negative, it is 0 and a remark says so. (DS-Analyzer,
 * VLDB'21.)
 *
 * @param unit {@code sample}, or {@code batch} where a recording does not say how many samples a
 *     batch has
 * @param samplesPerBatch absent if no recording says
 * @param workers threads that prepare beside the training thread, 0 if it prepares itself; absent
 *     if unknown
 * @param timings what was measured, phase by phase
 * @param shares by the fields of {@link Part}: first those that the phases tell, then those that
 *     only the live attribution knows
 * @param live the attribution that {@link Share#live} is from; absent if there is none
 * @param ingestionRate G
 * @param prepRate P, with the pipeline's own workers
 * @param fetchRate F, cold
 * @param limit the largest of the parts that the phases tell; {@code unknown} where a phase is
 *     missing or errors of measurement do not tell which is largest
 * @param missing figures that could not be given
 * @param remarks what a reader must know to trust the figures: recordings that differ, phases that
 *     did not become steady
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
   * @param nanos of each unit; absent if the phases do not tell
   * @param share of the cold time of a unit, 0 to 1; absent if the phases do not tell
   * @param live the same part as the agent saw it while the program ran, 0 to 1
   * @param difference {@code live} less {@code share}
   */
  public record Share(
      String part,
      @Nullable Measure nanos,
      @Nullable Measure share,
      @Nullable Double live,
      @Nullable Double difference) {}

  /** Of one recording made with {@code profile=}; every figure may be missing, with its reason. */
  public static Differential of(JobRecording profile) {
    return of(List.of(profile), Optional.empty());
  }

  /**
   * Of one recording made with {@code profile=}, or of three made at different times or places.
   * Each of these is either of a profile, and then its phase counts, wherever it stands; or an
   * ordinary one, and then its place tells what it is: ingestion, cached, cold.
   *
   * @param ordinary a recording of the same job under ordinary conditions, for the live attribution
   */
  public static Differential of(List<JobRecording> recordings, Optional<JobRecording> ordinary) {
    return new Analysis(Phases.of(recordings), ordinary).differential();
  }
}
