package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which units are compared, and what is reported. */
class CheckedSamplesTest {
  private static final String NAME = "java.util.ArrayList";

  private final List<Object> proven = new ArrayList<>();
  private final CheckedSamples checked =
      new CheckedSamples(
          batches -> {
            proven.add(batches);
            return new SampleVerdict("", 1, 0, "it counts", "my.Data", "");
          });
  private final Object data = new ArrayList<>();

  private CheckedSamples.Units units() {
    return checked.of(data, "batches", "samples");
  }

  @Test
  void unitsAreComparedOnceInAnyOrder() {
    for (int i = 0; i < 1_000; i++) {
      units().made(i, 3L * i);
    }
    assertThat(checked.summary())
        .isEqualTo("prepared=check: " + NAME + ": no samples were made twice");
    for (int epoch = 0; epoch < 3; epoch++) {
      for (int i = 999; i >= 0; i--) {
        units().made(i, 3L * i + (epoch == 1 && i == 3 ? 1 : 0));
      }
    }
    assertThat(checked.summary())
        .isEqualTo(
            "prepared=check: "
                + NAME
                + ": 1,000 of 1,000 samples were bit-identical when made again; if they always"
                + " are, use prepared=share:my.Data");
    assertThat(proven).containsExactly("batches");
  }

  @Test
  void oneDifferenceIsReported() {
    for (int epoch = 0; epoch < 2; epoch++) {
      for (int i = 0; i < 100; i++) {
        units().made(i, i == 70 ? epoch : 5);
      }
    }
    assertThat(checked.summary())
        .isEqualTo(
            "prepared=check: "
                + NAME
                + ": 1 of 100 samples differed when made again; do not declare them deterministic");
  }

  @Test
  void unitsInOrderAreComparedByPlace() {
    for (int epoch = 0; epoch < 2; epoch++) {
      for (long checksum = 0; checksum < 10; checksum++) {
        long number = units().next();
        assertThat(number).isEqualTo(checksum);
        assertThat(units().wants(number)).isTrue();
        units().made(number, checksum);
      }
      units().reset();
    }
    assertThat(checked.summary()).contains("10 of 10 samples were bit-identical");
    assertThat(units().wants(9)).isFalse();
    assertThat(units().wants(10)).isTrue();
    assertThat(units().wants(CheckedSamples.MAX_UNITS)).isFalse();
  }

  /** Data sets of one class share a result, but are not compared with each other. */
  @Test
  void dataSetsOfAClassAreReportedTogether() {
    Object other = new ArrayList<>();
    units().made(0, 1);
    checked.of(other, "", "samples").made(0, 2);
    units().made(0, 1);
    checked.of(other, "", "samples").made(0, 2);
    assertThat(checked.summary()).contains("2 of 2 samples were bit-identical");
    assertThat(proven).hasSize(1);
  }

  /** Declaring the class deterministic would also cover the data set that was not compared. */
  @Test
  void aClassIsNotRecommendedIfOneOfItsDataSetsWasNotCompared() {
    for (int epoch = 0; epoch < 2; epoch++) {
      units().made(0, 1);
    }
    assertThat(checked.summary()).doesNotContain("not compared");
    checked.of(new ArrayList<>(), "", "samples").made(0, 2);
    assertThat(checked.summary())
        .endsWith(
            "1 of 1 samples were bit-identical when made again; other data sets of this"
                + " class were not compared");
  }

  @Test
  void aUnitDoesNotBeginWithinAnother() {
    assertThat(checked.tryBegin()).isTrue();
    assertThat(checked.tryBegin()).isFalse();
    checked.end();
    assertThat(checked.tryBegin()).isTrue();
  }

  @Test
  void memoryIsBounded() {
    long far = CheckedSamples.MAX_UNITS;
    for (int epoch = 0; epoch < 2; epoch++) {
      for (long unit : List.of(0L, far - 1, far, Long.MAX_VALUE, -1L)) {
        units().made(unit, unit);
      }
      checked.of(new int[1], "", "samples").made(0, epoch);
    }
    assertThat(checked.summary())
        .contains(": 2 of 2 samples were bit-identical", "[I: no samples were made");
  }

  @Test
  void theReasonIsReportedIfNothingIsCompared() {
    assertThat(checked.whyUnused()).isNotEmpty();
    units().leave("its batches are on a device");
    assertThat(checked.whyUnused()).isEmpty();
    assertThat(checked.summary())
        .isEqualTo(
            "prepared=check: "
                + NAME
                + ": nothing was compared, because its batches are on a device");
  }
}
