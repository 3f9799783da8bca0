package io.coordl.reports.whatif;

import io.coordl.reports.recording.JobRecording;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Predictions for one job. Serialised to the JSON that {@code whatif.schema.json} describes; an
 * incompatible change increments {@link #SCHEMA_VERSION}.
 *
 * @param answers one per requested question that applies to the job, even if a measurement is
 *     missing
 */
public record WhatIf(
    int schemaVersion,
    String recording,
    @Nullable String mainClass,
    Pipeline pipeline,
    List<Answer> answers) {

  static final int SCHEMA_VERSION = 1;

  /** All questions, in the order in which they are answered. */
  static final List<Question> QUESTIONS =
      List.of(
          new BestCacheSize(),
          new MinioOverPageCache(),
          new DecodedItems(),
          new Overlap(),
          new WorkersNeeded(),
          new StorageNeeded(),
          new FasterStep(),
          new SeveralJobs(),
          new SeveralHosts(),
          new LocalityAware(),
          new SaveInterval(),
          new AutoChoice(),
          new ResourcesNeeded());

  /** Answers every question about a recording, which may be a profile. */
  public static WhatIf of(JobRecording recording) {
    return of(recording, Scenario.NONE, Set.of());
  }

  /** Answers the named questions about a recording; all if {@code questions} is empty. */
  public static WhatIf of(JobRecording recording, Scenario scenario, Set<String> questions) {
    Pipeline pipeline = Pipeline.of(recording).withComputeCores(scenario.computeCores());
    return new WhatIf(
        SCHEMA_VERSION,
        recording.file().toString(),
        recording.mainClass(),
        pipeline,
        QUESTIONS.stream()
            .filter(question -> questions.isEmpty() || questions.contains(question.name))
            .filter(question -> question.concerns(pipeline))
            .map(question -> question.ask(pipeline, scenario))
            .toList());
  }
}
