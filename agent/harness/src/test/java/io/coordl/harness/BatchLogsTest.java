package io.coordl.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BatchLogsTest {
  @TempDir Path folder;

  @Test
  void epochTimesAreReadButNotCompared() throws IOException {
    Path one = log("one", "batch 1 1 aa bb cc", "epoch 1 2500");
    Path two = log("two", "batch 1 1 aa bb cc", "epoch 1 9000");
    assertThat(BatchLogs.firstDifference(one, two)).isEmpty();
    assertThat(BatchLogs.epochSeconds(one)).containsExactly(2.5);
  }

  @Test
  void aDifferentLossIsReported() throws IOException {
    Path one = log("one", "batch 1 1 aa bb cc", "batch 1 2 aa bb cc");
    Path two = log("two", "batch 1 1 aa bb cc", "batch 1 2 aa bb cd");
    assertThat(BatchLogs.firstDifference(one, two))
        .hasValueSatisfying(
            sentence -> assertThat(sentence).contains("batch 1 2 aa bb cc", "batch 1 2 aa bb cd"));
  }

  @Test
  void aMissingBatchAndAnEmptyLogAreReported() throws IOException {
    Path one = log("one", "batch 1 1 aa bb cc");
    Path none = log("none", "epoch 1 1");
    assertThat(BatchLogs.firstDifference(one, none)).isPresent();
    assertThat(BatchLogs.firstDifference(none, none)).isPresent();
  }

  @Test
  void everyPictureMustAppearOncePerEpoch() throws IOException {
    Path good = log("good", "items 1 1 a b", "items 1 2 c", "items 2 1 c a", "items 2 2 b");
    assertThat(BatchLogs.notOncePerEpoch(good, 3, 2)).isEmpty();
    assertThat(BatchLogs.notOncePerEpoch(good, 4, 2)).isPresent();
    assertThat(BatchLogs.notOncePerEpoch(good, 3, 3)).isPresent();
    Path twice = log("twice", "items 1 1 a b c", "items 2 1 a b b");
    assertThat(BatchLogs.notOncePerEpoch(twice, 3, 2)).isPresent();
    Path other = log("other", "items 1 1 a b c", "items 2 1 a b d");
    assertThat(BatchLogs.notOncePerEpoch(other, 3, 2))
        .hasValueSatisfying(sentence -> assertThat(sentence).contains("epoch 2"));
  }

  @Test
  void theMeanLossCoversOneEpoch() throws IOException {
    Path log = log("losses", "batch 1 1 a b 3f800000", "batch 1 2 a b 40400000", "batch 2 1 a b 0");
    assertThat(BatchLogs.meanLoss(log, 1)).isEqualTo(2);
  }

  @Test
  void sameBatchesMayHaveDifferentLosses() throws IOException {
    Path one = log("one", "batch 1 1 aa bb cc", "batch 1 2 aa bb cc");
    Path two = log("two", "batch 1 1 aa bb dd", "batch 1 2 aa bc cc");
    assertThat(BatchLogs.sameBatches(one, two)).isEqualTo(1);
    assertThat(BatchLogs.batches(one)).isEqualTo(2);
  }

  private Path log(String name, String... lines) throws IOException {
    return Files.write(folder.resolve(name), List.of(lines));
  }
}
