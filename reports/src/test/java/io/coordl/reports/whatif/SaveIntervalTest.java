package io.coordl.reports.whatif;

import static io.coordl.reports.recording.Recordings.SECOND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Recordings;
import io.coordl.reports.whatif.Pipeline.Saves;
import java.util.Set;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** The advised interval of a job whose steps take 0.29 s after the first epoch. */
class SaveIntervalTest {
  /** Returns the job with {@code pairs} saves of 0.9 s and {@code pairs} saves of 1.1 s. */
  private static JobRecording job(int pairs, String policy) throws Exception {
    Histogram histogram = new Histogram(60 * SECOND, 3);
    histogram.recordValueWithCount(9 * SECOND / 10, pairs);
    histogram.recordValueWithCount(11 * SECOND / 10, pairs);
    return Recordings.read(
        () -> {
          Recordings.emitJob();
          Recordings.emitConfiguration("checkpoint", policy);
          Recordings.emitHistogram("checkpoint", histogram);
        });
  }

  private static Answer answer(JobRecording job) {
    return WhatIf.of(job, Scenario.NONE, Set.of("saves")).answers().get(0);
  }

  @Test
  void theIntervalKeepsTheWaitWithinTheBound() throws Exception {
    Answer answer = answer(job(1, "off"));

    // 1 / (1 + 96 * 0.29) is the first share below 3.5 %.
    assertThat(answer.sentence())
        .isEqualTo(
            "training waits 1.00 s for a save, the time of 3.45 (0.96 to 12.4) steps; with at least"
                + " 96 steps between saves, it waits at most 3.5 % of the time. Today the interval"
                + " is 150 steps, and training waits 2.2 % of the time; a crash loses 21.75 s of"
                + " training on average.");
    assertThat(answer.figure().measure().value()).isCloseTo(95.08, within(0.1));
    assertThat(answer.arguments()).isEmpty();
    for (Point point : answer.plot().series().get(0).points()) {
      assertThat(point.y().value()).isCloseTo(1 / (1 + point.x() * 0.29), within(1e-3));
      assertThat(point.y().value() <= 0.035).isEqualTo(point.x() >= 96);
    }
  }

  @Test
  void aJobThatSavesTooOftenIsAdvisedToSaveInTheBackground() throws Exception {
    Answer often = answer(job(5, "atomic"));

    assertThat(often.sentence())
        .endsWith(
            "Today the interval is 30 steps, and training waits 10.3 % of the time, which is too"
                + " much.");
    assertThat(often.arguments()).contains("checkpoint=async");
    assertThat(answer(job(5, "async")).arguments()).isEmpty();
  }

  @Test
  void tooFewSavesGiveNoAnswer() throws Exception {
    Histogram one = new Histogram(60 * SECOND, 3);
    one.recordValue(SECOND);
    Answer answer =
        answer(
            Recordings.read(
                () -> {
                  Recordings.emitJob();
                  Recordings.emitHistogram("checkpoint", one);
                }));

    assertThat(answer.plot()).isNull();
    assertThat(answer.sentence())
        .isEqualTo(
            "no answer: the recording needs at least two saves of the model and three complete"
                + " epochs that train it.");
  }

  @Test
  void errorsLargerThanTheFiguresStillLeaveFigures() throws Exception {
    Pipeline pipeline = Pipeline.of(job(1, "off"));
    pipeline.saves = new Saves(new Measure(3e8, 9e8), new Measure(1e9, 3e9), 0.5, true);

    assertThat(new SaveInterval().ask(pipeline, Scenario.NONE).sentence())
        .contains("Today the interval is 1 step,", "87.0 % of the time");
  }
}
