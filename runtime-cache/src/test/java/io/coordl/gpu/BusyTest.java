package io.coordl.gpu;

import static org.assertj.core.api.Assertions.within;

import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.GpuStatisticsEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The reported utilization of a device whose kernels run for a planted part of each period. One
 * window per second would not suffice: each might show the same part of a period.
 */
class BusyTest {
  private static final double POINTS = 0.03;
  private static final long MICROS = 1000;

  /** Milliseconds per period, the share with kernels, and the function that always fails. */
  static Stream<Arguments> waves() {
    return Stream.of(50, 100, 166, 200, 333, 400, 500, 900, 1000, 1100, 2000, 5000)
        .flatMap(
            period ->
                Stream.of(0.05, 0.2, 0.5, 0.95)
                    .flatMap(
                        duty ->
                            Stream.of("nothing", "nvmlDeviceGetSamples")
                                .map(lacks -> Arguments.of(period, duty, lacks))));
  }

  /** A job whose device is busy during steps and idle while the job waits for a batch. */
  @ParameterizedTest
  @MethodSource("waves")
  void theReportedUtilizationIsThePlantedOne(long period, double duty, String lacks)
      throws Exception {
    FakeDriver driver = new FakeDriver();
    driver.failing.put(lacks, 3);
    driver.shares = null;
    driver.period = MICROS * period;
    driver.busy = Math.round(driver.period * duty);
    long begin = driver.now;
    Nvml nvml = new Nvml(driver, FakeDriver.PID, () -> driver.now);
    Figures before = job(driver, begin);
    GpuTime time = new GpuTime("fake", before, steps(driver, begin));
    Random random = new Random(period);
    double own = 0;
    while (driver.now - begin < 120_000_000) {
      long look = 1_000_000L + random.nextInt(60_000); // Jitter of a busy machine.
      driver.now += look;
      Figures after = job(driver, begin);
      Nvml.Reading reading = Objects.requireNonNull(nvml.read(0, look * 1000));
      own += reading.nanos() * reading.sample().ownUtilization;
      time.add(reading.sample(), reading.nanos(), before, after, steps(driver, begin));
      before = after;
    }
    GpuStatisticsEvent sum = time.view();
    double planted = (double) (driver.ran(driver.now) - driver.ran(begin)) / (driver.now - begin);
    SoftAssertions all = new SoftAssertions();
    all.assertThat(sum.utilization()).as("busy").isCloseTo(planted, within(POINTS));
    all.assertThat(own / sum.sampled).as("share of the process").isCloseTo(planted, within(POINTS));
    all.assertThat(sum.idle() / 1e3 / (driver.now - begin))
        .as("idle")
        .isCloseTo(
            1 - planted, within(2 * POINTS)); // The last period of 5 s may be missing entirely.
    all.assertThat(sum.explained()).as("explained by stalls").isBetween(1 - POINTS, 1.0);
    all.assertThat((sum.busy - sum.synchronizedSteps) / (double) sum.sampled)
        .as("sampling error, as a share of the time")
        .isCloseTo(0, within(POINTS));
    all.assertAll();
  }

  /** Batches and finished waits so far; each wait ends when kernels begin. */
  private static Figures job(FakeDriver driver, long begin) {
    Figures job = new JobStatisticsEvent();
    job.batches = driver.now / driver.period;
    long until = job.batches * driver.period;
    job.stall = (until - begin - (driver.ran(until) - driver.ran(begin))) * 1000;
    return job;
  }

  /** Total time of the finished steps. */
  private static long steps(FakeDriver driver, long begin) {
    long done =
        driver.now % driver.period < driver.busy
            ? driver.now / driver.period * driver.period
            : driver.now;
    return (driver.ran(done) - driver.ran(begin)) * 1000;
  }
}
