package io.coordl.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.harness.OpenedFiles;
import io.coordl.harness.RecordingSummary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

class FiguresTest {
  @TempDir Path folder;

  @Test
  void summariesAddTheHitsOfAllStores() {
    RecordingSummary summary =
        RecordingSummary.of(
            JsonMapper.shared()
                .readTree(
                    """
                    {"totals": {"wallNanos": 10, "stallNanos": 6, "fetchStallNanos": 1,
                     "prepStallNanos": 2, "gcStallNanos": 3, "queueStallNanos": 0,
                     "storageItems": 600},
                     "stores": [{"hits": 7}, {"hits": 5}],
                     "latencies": [{"kind": "fetch", "count": 9}, {"kind": "decode", "count": 8}],
                     "epochs": [{"stallNanos": 4, "computeNanos": 3, "fetchTimeNanos": 1,
                      "decodeTimeNanos": 20, "transformTimeNanos": 300, "otherTimeNanos": 4000}]}\
                    """));
    assertThat(summary)
        .isEqualTo(
            new RecordingSummary(
                10, 6, 1, 2, 3, 0, 12, 600, 8, List.of(new RecordingSummary.Epoch(4, 3, 4321))));
  }

  @Test
  void aMissingFigureIsAnErrorNotZero() {
    assertThatThrownBy(() -> RecordingSummary.of(JsonMapper.shared().readTree("{\"totals\": {}}")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("wallNanos");
  }

  @Test
  void mediansOfOddAndEvenCounts() {
    assertThat(Pairs.median(List.of(3.0, 1.0, 2.0))).isEqualTo(2);
    assertThat(Pairs.median(List.of(4.0, 1.0, 2.0, 3.0))).isEqualTo(2.5);
    assertThat(new Pairs(List.of(2.0), List.of(3.0)).ratios()).containsExactly(1.5);
  }

  @Test
  void aLoadersLaterRateExcludesTheFirstEpoch() {
    String out =
        """
        [coordl] epoch 9 is no epoch
        epoch 1: 2.000 s, 300.0 samples/s, 200.0 per CPU s
        epoch 2: 0.500 s, 1200.0 samples/s, 1300.0 per CPU s
        epoch 3: 0.600 s, 1000.5 samples/s, 900.5 per CPU s
        epoch 4: 0.300 s, 2000.0 samples/s, 1000.0 per CPU s
        """;
    assertThat(EpochRates.of(out)).isEqualTo(new EpochRates(300, 1200, 1000));
    assertThatThrownBy(() -> EpochRates.of("epoch 1: 2.000 s, 300.0 samples/s, 9.0 per CPU s\n"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("printed 1 epochs");
  }

  @Test
  void theFirstTwoTrainingEpochsCountOnlyForTheirLosses() {
    String out =
        """
        epoch 1: 2.000 s, 300.0 samples/s, loss 0.5
        epoch 2: 0.500 s, 1200.0 samples/s, loss NaN
        epoch 3: 0.600 s, 1000.5 samples/s, loss -1.5E-7
        epoch 4: 0.300 s, 2000.5 samples/s, loss 0.25
        """;
    assertThat(TrainingEpochs.of(out, 3))
        .isEqualTo(new TrainingEpochs(1500.5, List.of("0.5", "NaN", "-1.5E-7", "0.25")));
    assertThatThrownBy(() -> TrainingEpochs.of("epoch 1: 2.000 s, 300.0 samples/s, loss 0.5\n", 3))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("printed 1 epochs");
  }

  @Test
  void onlyOpenedPicturesCount() throws IOException {
    Path trace =
        Files.write(
            folder.resolve("trace"),
            List.of(
                "12 openat(AT_FDCWD, \"/d/class0/00000.jpg\", O_RDONLY) = 5",
                "12 openat(AT_FDCWD, \"/d/class0/00001.jpg\", O_RDONLY <unfinished ...>",
                "12 <... openat resumed>) = 6",
                "12 openat(AT_FDCWD, \"/d/gone.jpg\", O_RDONLY) = -1 ENOENT (No such file)",
                "12 openat(AT_FDCWD, \"/d/class0\", O_RDONLY|O_DIRECTORY) = 7"));
    assertThat(OpenedFiles.count(trace)).isEqualTo(2);
  }
}
