package io.coordl.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtherLoadTest {
  @TempDir Path folder;

  @Test
  void ownTimeIsNotOtherLoad() throws IOException {
    Path stat = Files.writeString(folder.resolve("stat"), "cpu  100 0 50 900 40 0 0 10 0 0\n");
    OtherLoad load = OtherLoad.begin(stat);
    // After 9.5 s of two cores: 6 s idle or waiting for a disk, 13 s busy, one of them stolen.
    Files.writeString(stat, "cpu  1200 0 150 1400 140 0 0 110 0 0\n");
    assertThat(load.share(9)).isCloseTo((13 - 9) / 19.0, within(1e-9));
    assertThat(load.share(20)).isZero();
  }

  @Test
  void aSystemWithoutStatCountsAsIdle() throws IOException {
    assertThat(OtherLoad.begin(folder.resolve("none")).share(1)).isZero();
  }
}
