package io.coordl.benchmarks;

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
  void epochTimesAreNoDifference() throws IOException {
    Path one = log("one", "batch 1 1 aa bb cc", "epoch 1 2500");
    Path two = log("two", "batch 1 1 aa bb cc", "epoch 1 9000");
    assertThat(BatchLogs.firstDifference(one, two)).isEmpty();
    assertThat(BatchLogs.epochSeconds(one)).containsExactly(2.5);
  }

  @Test
  void oneOtherLossIsNamed() throws IOException {
    Path one = log("one", "batch 1 1 aa bb cc", "batch 1 2 aa bb cc");
    Path two = log("two", "batch 1 1 aa bb cc", "batch 1 2 aa bb cd");
    assertThat(BatchLogs.firstDifference(one, two))
        .hasValueSatisfying(
            sentence -> assertThat(sentence).contains("batch 1 2 aa bb cc", "batch 1 2 aa bb cd"));
  }

  @Test
  void aShorterLogAndAnEmptyLogDiffer() throws IOException {
    Path one = log("one", "batch 1 1 aa bb cc");
    Path none = log("none", "epoch 1 1");
    assertThat(BatchLogs.firstDifference(one, none)).isPresent();
    assertThat(BatchLogs.firstDifference(none, none)).isPresent();
  }

  private Path log(String name, String... lines) throws IOException {
    return Files.write(folder.resolve(name), List.of(lines));
  }
}
