package io.coordl.telemetry.advice;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LibraryEvent;
import org.junit.jupiter.api.Test;

/** Counts and descriptions of epochs, and the epochs that are judged. */
class EpochsTest {
  private final Epochs epochs = new Epochs();

  private void add(long updates, String source, boolean complete) {
    EpochEvent epoch = new EpochEvent();
    epoch.updates = updates;
    epoch.source = source;
    epoch.complete = complete;
    epochs.add(epoch);
  }

  private static JobStatisticsEvent job(long updates, long epochs, long evaluations) {
    JobStatisticsEvent job = new JobStatisticsEvent();
    job.updates = updates;
    job.epochs = epochs;
    job.evaluations = evaluations;
    return job;
  }

  @Test
  void epochsLeftEarlyAreCountedAndReported() {
    add(1, "my.Images", true);
    assertThat(epochs.describe(job(1, 1, 0), false)).isEqualTo("1 epoch");
    add(1, "my.Images", false);
    add(0, "my.Images", true);
    assertThat(epochs.describe(job(2, 2, 1), false))
        .isEqualTo("2 epochs, 1 of them left early, 1 evaluation");
    assertThat(epochs.describe(job(2, 3, 1), false))
        .as("the job was killed during an epoch")
        .contains("3 epochs, 2 of them left early");
    assertThat(epochs.describe(job(2, 3, 1), true))
        .as("one epoch is running")
        .contains("3 epochs, 1 of them left early");
  }

  private void ofModel(long model, long wall, int count) {
    for (int i = 0; i < count; i++) {
      EpochEvent epoch = new EpochEvent();
      epoch.updates = 1;
      epoch.source = "my.Images";
      epoch.model = model;
      epoch.batches = 10;
      epoch.wall = wall;
      epochs.add(epoch);
    }
  }

  /** The mean over two networks would be the speed of neither. */
  @Test
  void theModelThatTrainsLongestIsJudged() {
    ofModel(1, 100, 3);
    assertThat(epochs.ofWhat()).isEqualTo(" from the second epoch on");
    ofModel(2, 1_000, 3);
    assertThat(epochs.judged().wall).isEqualTo(2_000);
    assertThat(epochs.judged().batches).isEqualTo(20);
    assertThat(epochs.ofWhat()).isEqualTo(" from the second epoch on of model 2");
  }

  /** The first epoch warms up, and an epoch that was left early is no measure. */
  @Test
  void theLastEpochIsACompleteOneAfterTheFirst() {
    ofModel(1, 100, 1);
    assertThat(epochs.last().wall).isEqualTo(100);
    EpochEvent left = new EpochEvent();
    left.updates = 1;
    left.source = "my.Images";
    left.model = 1;
    left.batches = 5;
    left.wall = 40;
    epochs.add(left);
    assertThat(epochs.last().wall).as("that of the judged epochs").isEqualTo(40);
    left.complete = true;
    left.wall = 60;
    epochs.add(left);
    assertThat(epochs.last().wall).isEqualTo(60);
  }

  @Test
  void aSingleEpochIsWordedAsOne() {
    add(1, "my.Images", false);
    assertThat(epochs.describe(job(1, 1, 0), false)).isEqualTo("1 epoch, left early");
  }

  @Test
  void withoutUpdatesEpochsAreCountedByDataSet() {
    add(0, "my.B", true);
    add(0, "my.A", true);
    add(0, "my.A", false);
    assertThat(epochs.describe(job(0, 3, 0), false))
        .isEqualTo("3 epochs without a model update (2 of my.A, 1 of my.B)");
  }

  @Test
  void dataSetsBehindOneIteratorClassAreToldApart() {
    for (String dataset : new String[] {"my.A", "my.B", "my.A"}) {
      EpochEvent epoch = new EpochEvent();
      epoch.source = "library.Iterator";
      epoch.dataset = dataset;
      epoch.complete = true;
      epochs.add(epoch);
    }
    assertThat(epochs.describe(job(0, 3, 0), false))
        .isEqualTo("3 epochs without a model update (2 of my.A, 1 of my.B)");
    LibraryEvent library = new LibraryEvent();
    library.packages = "library.";
    assertThat(epochs.areOf(library)).isTrue();
    library.packages = "my.";
    assertThat(epochs.areOf(library)).isFalse();
  }

  @Test
  void theReasonAnEpochWasNotSharedIsReported() {
    assertThat(Epochs.shared(2, 3, true, true))
        .isEqualTo("2 of 3 epochs shared (1 while no other job took part)");
    assertThat(Epochs.shared(1, 1, false, true)).isEqualTo("1 of 1 evaluation shared");
    assertThat(Epochs.shared(3, 3, false, false)).isEqualTo("3 of 3 epochs shared");
  }
}
