package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which refused classes the user may declare deterministic. */
class SampleVerdictTest {
  private static String remedy(String reason) {
    return new SampleVerdict("my.Data", 1, 0, reason, "my.Data", null).remedy();
  }

  @Test
  void aReasonThatDoesNotSayThatSamplesDifferLeavesTheChoiceToTheUser() {
    assertThat(remedy("my.Data.get uses a lock")).isEqualTo("prepared=share:my.Data");
    assertThat(remedy("my.Data.get uses java.io.RandomAccessFile.write"))
        .isEqualTo("prepared=share:my.Data");
    assertThat(remedy("my.Data.get uses java.time.format.DateTimeFormatter.ofPattern"))
        .isEqualTo("prepared=share:my.Data");
  }

  @Test
  void samplesThatDifferAreNotDeclared() {
    assertThat(remedy("my.Data.get uses java.util.Random.nextBoolean")).isEmpty();
    assertThat(remedy("its image transform may draw random numbers")).isEmpty();
    assertThat(remedy("my.Data.get uses java.lang.System.nanoTime")).isEmpty();
    assertThat(remedy("my.Data.get uses java.time.LocalDate.now")).isEmpty();
  }
}
