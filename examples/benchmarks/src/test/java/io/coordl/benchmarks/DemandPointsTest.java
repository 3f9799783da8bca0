package io.coordl.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class DemandPointsTest {
  private static final String DEMAND =
      """
      {"table": {"cores": [1, 2], "memoryGib": [0, 4], "storageMbs": [10, 30],
        "samplesPerSecond": [[[10, 20], [30, 40]], [[50, 60], [70, 80]]]}}
      """;

  private final DemandPoints points = DemandPoints.of(JsonMapper.shared().readTree(DEMAND));

  @Test
  void speedsAtThePointsAreThoseOfTheTable() {
    assertThat(points.count()).isEqualTo(8);
    assertThat(points.allMemory()).isEqualTo(4);
    assertThat(points.speed(1, 0, 10)).isEqualTo(10);
    assertThat(points.speed(2, 0, 30)).isEqualTo(60);
    assertThat(points.speed(1, 4, 10)).isEqualTo(30);
    assertThat(points.speed(2, 4, 30)).isEqualTo(80);
  }

  @Test
  void speedsAreLinearBetweenPointsAndConstantBeyond() {
    assertThat(points.speed(1.5, 0, 10)).isCloseTo(30, within(1e-9));
    assertThat(points.speed(1, 1, 10)).isCloseTo(15, within(1e-9));
    assertThat(points.speed(1.5, 2, 20)).isCloseTo(45, within(1e-9));
    assertThat(points.speed(0.5, -1, 5)).isEqualTo(10);
    assertThat(points.speed(8, 9, 99)).isEqualTo(80);
  }
}
