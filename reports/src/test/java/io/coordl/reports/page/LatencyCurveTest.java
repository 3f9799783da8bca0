package io.coordl.reports.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.reports.recording.Recordings;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class LatencyCurveTest {
  private static LatencyStatisticsEvent latency(long count, String histogram) {
    LatencyStatisticsEvent latency = new LatencyStatisticsEvent();
    latency.kind = "fetch";
    latency.count = count;
    latency.minimum = 1;
    latency.p50 = 3;
    latency.p90 = 4;
    latency.p99 = 5;
    latency.p999 = 6;
    latency.maximum = 7;
    latency.histogram = histogram;
    return latency;
  }

  @Test
  void thePointsFollowTheDistribution() {
    Histogram histogram = new Histogram(2);
    for (int i = 1; i <= 1_000; i++) {
      histogram.recordValue(i * 1_000L);
    }

    LatencyCurve curve = LatencyCurve.of(latency(1_000, Recordings.encoded(histogram)));

    assertThat(curve.exact()).isTrue();
    assertThat(curve.points())
        .contains(
            new LatencyCurve.Point(50, histogram.getValueAtPercentile(50)),
            new LatencyCurve.Point(99.9, histogram.getValueAtPercentile(99.9)),
            new LatencyCurve.Point(100, histogram.getMaxValue()))
        .extracting(LatencyCurve.Point::percentile)
        .isSorted()
        .doesNotContain(99.95, 99.999);
    assertThat(curve.points()).extracting(LatencyCurve.Point::nanos).isSorted();
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "HISTFAAAA", "no base64!", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})
  void withoutADistributionTheUsualPercentilesAreThePoints(String histogram) {
    LatencyCurve curve = LatencyCurve.of(latency(10, histogram));

    assertThat(curve.exact()).isFalse();
    assertThat(curve.points())
        .extracting(LatencyCurve.Point::nanos)
        .containsExactly(1L, 3L, 4L, 5L, 6L, 7L);
  }

  @Test
  void aDistributionWithAnotherCountIsNotShown() {
    Histogram histogram = new Histogram(2);
    histogram.recordValue(1);
    assertThat(LatencyCurve.of(latency(10, Recordings.encoded(histogram))).exact()).isFalse();
  }
}
