package io.coordl.reports.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DemandTableTest {
  private static final String JSON =
      """
      {"table": {"gpus": 2, "batchSamples": 32, "datasetGib": 40,
       "cores": [2, 8], "memoryGib": [0, 40], "storageMbs": [100, 200],
       "samplesPerSecond": [[[20, 30], [50, 50]], [[40, 60], [100, 100]]],
       "knee": {"cores": 8, "memoryGib": 40, "storageMbs": 100, "share": 1}}}
      """;

  @TempDir Path directory;

  private ModelTable read(String json) throws Exception {
    Path file = directory.resolve("mine.json");
    Files.writeString(file, json);
    return ModelTable.read(file);
  }

  private static DemandTable table() {
    return DemandTable.of(
        1,
        32,
        40,
        List.of(2.0, 8.0),
        List.of(0.0, 40.0),
        List.of(100.0, 200.0),
        List.of(
            List.of(List.of(20.0, 30.0), List.of(50.0, 50.0)),
            List.of(List.of(40.0, 60.0), List.of(100.0, 100.0))),
        1);
  }

  @Test
  void speedsAreLinearBetweenPointsAndProportionalBelowThem() {
    DemandTable table = table();

    assertThat(table.speed(8, 40, 200)).isEqualTo(100);
    assertThat(table.speed(5, 20, 150)).isCloseTo((25 + 50 + 50 + 100) / 4.0, within(1e-9));
    assertThat(table.speed(100, 100, 1000)).isEqualTo(100);
    assertThat(table.speed(1, 40, 200)).as("half of the fewest cores").isEqualTo(25);
    assertThat(table.speed(8, 0, 50)).as("half of the least rate").isEqualTo(20);
    assertThat(table.speed(8, 40, 50)).as("all in memory").isEqualTo(100);
  }

  @Test
  void storageIsNeededOnlyWhereMemoryIsShort() {
    DemandTable table = table();

    assertThat(table.storageNeeded(8, 40)).isZero();
    assertThat(table.storageNeeded(8, 0)).isEqualTo(200);
    assertThat(table.knee()).isEqualTo(new DemandTable.Knee(8, 40, 100, 1));
  }

  /** Amounts in the file are for the whole job, those in a simulation for one GPU. */
  @Test
  void aRecordedJobIsAModelNamedAfterItsFile() throws Exception {
    ModelTable models = read(JSON);
    JobModel mine = models.named("mine");

    assertThat(mine.coresPerGpu()).isEqualTo(4);
    assertThat(mine.memoryGibPerGpu()).isEqualTo(20);
    assertThat(mine.iterationSeconds()).isEqualTo(0.32);
    assertThat(models.gpus("mine")).isEqualTo(2);
    assertThat(models.speed(mine, 2, new double[] {4, 20, 100, 0})).isEqualTo(1);
    assertThat(models.speed(mine, 2, new double[] {1, 20, 100, 0})).isEqualTo(0.5);
    assertThat(models.storageRate(mine, 2, 4, 0)).isEqualTo(100);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[2, 8]|[8, 2]|an axis does not rise",
        "[100, 200]|[0, 200]|an axis does not rise",
        "\"gpus\": 2|\"gpus\": 0|gpus is 0",
        "[50, 50]|[50]|not a table of 2 x 2 x 2 speeds above 0",
        "[50, 50]|[50, 0]|not a table of 2 x 2 x 2 speeds above 0",
        "[20, 30]|[20, null]|not a table of 2 x 2 x 2 speeds above 0",
        "[20, 30]|[20, \"fast\"]|line 3, is not a table of models",
      })
  void aWrongTableGetsOneSentence(String right, String wrong, String sentence) {
    assertThatThrownBy(() -> read(JSON.replace(right, wrong)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("mine.json")
        .hasMessageContaining(sentence);
  }

  @Test
  void aTableWithoutAnAxisGetsOneSentence() {
    assertThatThrownBy(() -> read(JSON.replace("\"cores\": [2, 8],", "")))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("mine.json: its table lacks one of cores, ");
  }
}
