package io.coordl.profile;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ResultsTest {
  @Test
  void whatIsPreparedAheadDoesNotMakeASampleOfAnItemAndALittle() {
    assertThat(Results.nearlyWhole(0.983)).isEqualTo(1);
    assertThat(Results.nearlyWhole(2.05)).isEqualTo(2);
  }

  @Test
  void itemsOfManySamplesAndSamplesOfOddlyManyItemsStayWhatTheyAre() {
    assertThat(Results.nearlyWhole(0.01)).isEqualTo(0.01);
    assertThat(Results.nearlyWhole(1.5)).isEqualTo(1.5);
  }
}
