package io.coordl.reports.whatif;

import io.coordl.advice.Student;
import io.coordl.event.EpochEvent;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.event.LatencyStatisticsEvent;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.whatif.Pipeline.Saves;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a recording shows of the job's saves of its model. */
final class ObservedSaves {
  private static final String TOO_FEW =
      "it takes two saves of the model or more, and three complete epochs that train it.";

  private ObservedSaves() {}

  /** Adds nothing of a job without saves, and what is missing if there were too few. */
  static void add(JobRecording recording, Pipeline pipeline) {
    recording.latencies().stream()
        .filter(latency -> "checkpoint".equals(latency.kind) && latency.count > 0)
        .findFirst()
        .ifPresent(
            saves -> {
              pipeline.saves = of(recording, saves);
              if (pipeline.saves == null) {
                pipeline.missing.add(new Missing("saves", TOO_FEW));
              }
            });
  }

  private static @Nullable Saves of(JobRecording recording, LatencyStatisticsEvent saves) {
    JobStatisticsEvent job = recording.job();
    List<EpochEvent> epochs =
        recording.steadyEpochs().stream().filter(epoch -> epoch.updates > 0).toList();
    if (job == null || saves.count < 2 || epochs.size() < 2) {
      return null;
    }
    return new Saves(
        Measure.mean(
            epochs.stream()
                .mapToDouble(epoch -> (double) (epoch.wall - epoch.checkpoint) / epoch.updates)
                .toArray()),
        wait(saves),
        (double) job.updates / saves.count,
        "async".equals(recording.configuration().get("checkpoint")));
  }

  /** Values deviate from their mean by no more than half their range. */
  private static Measure wait(LatencyStatisticsEvent saves) {
    double deviation = (saves.maximum - saves.minimum) / 2.0;
    return new Measure(
        (double) saves.total / saves.count,
        Student.t((int) Math.min(saves.count - 1, Integer.MAX_VALUE))
            * deviation
            / Math.sqrt((double) (saves.count - 1)));
  }
}
