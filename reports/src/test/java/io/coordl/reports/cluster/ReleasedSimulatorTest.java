package io.coordl.reports.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reproduces the released simulator's published runs to the millisecond. */
class ReleasedSimulatorTest {
  @TempDir Path folder;

  private static final int[] GPUS = {1, 1, 1, 2, 1, 1, 4, 1, 1, 8};

  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          // spotless:off
          """
          FIFO|PROPORTIONAL|static |5.6311|54901|12.9403|2101 3300.999 9300.998 19800.997 2100.996 6300.995 3300.994 6900.993 7500.992 19200.991|34e8438835425c11
          FIFO|TUNE        |static |5.0828|39601|10.5878|901 3300.999 9300.998 17100.997 1800.996 6300.995 2100.994 6900.993 7500.992 19200.991|24703dbae17c1794
          SRTF|PROPORTIONAL|static |4.4119|50701|13.0936|2101 3300.999 13200.998 30000.997 2100.996 9000.995 3300.994 10200.993 10800.992 28800.991|da4411778231d29f
          SRTF|TUNE        |static |4.1069|46501|12.3394|2101 3600.999 15900.998 25500.997 2100.996 9900.995 3300.994 8400.993 12600.992 24300.991|f55e4786c7d487c0
          FIFO|GREEDY      |static |5.4944|44401|11.7561|901 3300.999 9300.998 8400.997 1800.996 6300.995 2100.994 2400.993 7500.992 6600.991|a091038c21552367
          FIFO|PROPORTIONAL|dynamic|4.6226|60300|12.4282|14392 3474 10915 16213 2188 12845 3181 6955 7675 19307|1a019ada9c634849
          SRTF|TUNE        |dynamic|3.1884|47700|10.2678|5692 3474 9415 6913 2188 5645 3181 6955 7675 17207|577c6df5edc69fbb
          LAS |PROPORTIONAL|dynamic|4.5551|61800|12.0231|28792 3474 25015 30613 2188 26645 3181 18655 19375 32807|f0d0636dd52aeccb
          LAS |TUNE        |dynamic|3.6701|41100|10.0438|18292 3474 21715 21013 2188 16745 3181 18055 18775 28307|3e4eb765308649e0
          """)
          // spotless:on
  void reproducesPublishedRunsToTheMillisecond(
      Policy policy,
      Allocation allocation,
      String trace,
      double meanHours,
      double makespan,
      double p99Hours,
      String first,
      String digest)
      throws Exception {
    Outcome outcome = run(Tables.trace(trace), policy, allocation, trace.equals("static"));
    check(outcome, meanHours, makespan, p99Hours, first);
    assertThat(digest(outcome)).isEqualTo(digest);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          // spotless:off
          """
          PROPORTIONAL|11.1503|92701|22.2028|2101 3300.999 9300.998 19800.997 2100.996
          TUNE        |10.9869|92701|21.4603|2101 3300.999 9300.998 19800.997 1800.996
          """)
          // spotless:on
  void reproducesJobsOfSeveralGpusToTheMillisecond(
      Allocation allocation, double meanHours, double makespan, double p99Hours, String first)
      throws Exception {
    List<TraceJob> jobs = new ArrayList<>();
    for (TraceJob job : Tables.trace("static")) {
      int gpus = GPUS[(int) job.id() % GPUS.length];
      jobs.add(new TraceJob(job.id(), job.model(), job.arrival(), job.iterations(), gpus));
    }
    check(run(jobs, Policy.FIFO, allocation, true), meanHours, makespan, p99Hours, first);
  }

  @Test
  void theRunEndsWhenNoJobCanRunEvenIfOthersWillArrive() throws Exception {
    List<TraceJob> jobs =
        List.of(new TraceJob(0, "lstm", 0, 1, 1), new TraceJob(1, "lstm", 1000, 1, 1));
    Outcome outcome = run(jobs, Policy.FIFO, Allocation.TUNE, false);
    assertThat(outcome.jobs()).containsExactly(new JobTime(0, 300));
    assertThat(outcome.unfinished()).isOne();
  }

  @Test
  void aRunThatWouldNeverEndIsRefused() throws Exception {
    Cluster small = Cluster.parse("1x1,cores=1,memory=500,storage=500");
    List<TraceJob> jobs = List.of(new TraceJob(7, "alexnet", 0, 10, 1));
    ReleasedSimulator greedy =
        new ReleasedSimulator(
            new Cluster(1, 1, 24, 500, 1, 40),
            Tables.models(),
            jobs,
            Policy.FIFO,
            Allocation.GREEDY,
            false);
    assertThat(greedy.run().jobs()).hasSize(1);
    String slow =
        Files.readString(Tables.file("models.json"))
            .replace("\"iterationSeconds\": 0.6,", "\"iterationSeconds\": 301,");
    Path file = Files.writeString(folder.resolve("models.json"), slow);
    ReleasedSimulator endless =
        new ReleasedSimulator(
            small, ModelTable.read(file), jobs, Policy.FIFO, Allocation.PROPORTIONAL, false);
    assertThatThrownBy(endless::run)
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith("the released simulator never ends: job 7 does not fit, or a step");
  }

  private static Outcome run(
      List<TraceJob> jobs, Policy policy, Allocation allocation, boolean allAtStart)
      throws InputException {
    return new ReleasedSimulator(
            Cluster.parse(Tables.TESTBED), Tables.models(), jobs, policy, allocation, allAtStart)
        .run();
  }

  private static void check(
      Outcome outcome, double meanHours, double makespan, double p99Hours, String first) {
    JctStatistics jct = JctStatistics.of(outcome.jobs());
    assertThat(times(outcome).subList(0, first.split(" ").length))
        .containsExactly(
            Arrays.stream(first.split(" "))
                .map(ReleasedSimulatorTest::rounded)
                .toArray(String[]::new));
    assertThat(outcome.makespan()).isEqualTo(makespan);
    assertThat(jct.meanSeconds() / 3600).isEqualTo(meanHours, within(0.00005));
    assertThat(jct.p99Seconds() / 3600).isEqualTo(p99Hours, within(0.00005));
  }

  private static List<String> times(Outcome outcome) {
    return outcome.jobs().stream()
        .map(job -> String.format(Locale.ROOT, "%.3f", job.jctSeconds()))
        .toList();
  }

  private static String rounded(String seconds) {
    return String.format(Locale.ROOT, "%.3f", Double.parseDouble(seconds));
  }

  private static String digest(Outcome outcome) throws Exception {
    String joined = times(outcome).stream().collect(Collectors.joining(","));
    byte[] hash =
        MessageDigest.getInstance("SHA-256").digest(joined.getBytes(StandardCharsets.US_ASCII));
    return HexFormat.of().formatHex(hash).substring(0, 16);
  }
}
