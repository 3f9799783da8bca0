package io.coordl.reports.comparison;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.coordl.reports.comparison.SideBySide.Change;
import io.coordl.reports.comparison.SideBySide.Compared;
import io.coordl.reports.comparison.SideBySide.Remark;
import io.coordl.reports.comparison.SideBySide.TimesAsFast;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Recordings;
import io.coordl.reports.summary.EventJson;
import io.coordl.reports.whatif.Answer;
import io.coordl.reports.whatif.WhatIf;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.EpochEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SideBySideTest {
  private static final long SECOND = Recordings.SECOND;

  /** One epoch of 3200 samples for each number of seconds; the first is warm-up. */
  private static Runnable job(String prefetch, long... seconds) {
    return () -> {
      Recordings.emitConfiguration("prefetch", prefetch);
      Recordings.emitConfiguration("record", "file-of-" + prefetch);
      long wall = 0;
      for (int i = 0; i < seconds.length; i++) {
        Recordings.emitEpoch(i + 1, seconds[i] * SECOND, SECOND);
        wall += seconds[i] * SECOND;
      }
      Recordings.emitTotals(seconds.length, 100L * seconds.length, wall, SECOND * seconds.length);
    };
  }

  private static SideBySide compare(Runnable... jobs) throws Exception {
    List<JobRecording> recordings = new ArrayList<>();
    for (Runnable job : jobs) {
      recordings.add(Recordings.read(job));
    }
    return SideBySide.of(recordings);
  }

  /** Returns a job with 100 steps an epoch, whose times vary by a tenth; epoch 1 is slower. */
  private static Runnable steps(String prefetch, double seconds, int seed) {
    return () -> {
      Random random = new Random(seed);
      Recordings.emitConfiguration("prefetch", prefetch);
      for (int epoch = 1; epoch <= 3; epoch++) {
        double[] nanos = new double[100];
        double warm = epoch == 1 ? 3 : 1;
        Arrays.setAll(
            nanos, i -> warm * seconds * SECOND * Math.exp(0.1 * random.nextGaussian() - 0.005));
        Recordings.emitSteps(epoch, nanos);
        Recordings.emitEpoch(epoch, (long) Arrays.stream(nanos).sum(), 0);
      }
      Recordings.emitTotals(3, 300, (long) (500 * seconds * SECOND), SECOND);
    };
  }

  /** Three epochs, in each of which other programs used the cores for {@code lost} seconds. */
  private static Runnable beside(String prefetch, long wall, long lost) {
    return () -> {
      Recordings.emitConfiguration("prefetch", prefetch);
      for (int number = 1; number <= 3; number++) {
        EpochEvent epoch = new EpochEvent();
        epoch.epoch = number;
        epoch.updates = 100;
        epoch.source = "my.Images";
        epoch.complete = true;
        epoch.batches = 100;
        epoch.samples = 3_200;
        epoch.wall = (wall + lost) * SECOND;
        epoch.compute = epoch.wall;
        epoch.cpu = wall * SECOND;
        epoch.coreWait = lost * SECOND + 1;
        epoch.computeCoreWait = lost * SECOND;
        epoch.commit();
      }
      Recordings.emitTotals(3, 300, 3 * (wall + lost) * SECOND, 0);
      Recordings.emitEnvironment(2);
    };
  }

  @Test
  void timeThatOtherProgramsTookIsLeftOutAndReported() throws Exception {
    SideBySide compared = compare(beside("off", 20, 20), beside("2", 10, 0));
    assertThat(only(compared).timesAsFast().value()).isCloseTo(2, within(1e-6));
    assertThat(SideBySideText.lines(compared))
        .anyMatch(
            line ->
                line.endsWith(
                    "ran on a busy machine: for 50 % of the time, other programs used the cores"
                        + " that its steps needed; this time is not counted"));
    assertThat(SideBySideText.lines(compare(beside("off", 20, 0), beside("2", 10, 0))))
        .noneMatch(line -> line.contains("busy machine"));
  }

  private static Compared only(SideBySide compared) {
    assertThat(compared.comparisons()).hasSize(1);
    return compared.comparisons().get(0);
  }

  @Test
  void speedAndRangeComeFromTheStepsAfterWarmUp() throws Exception {
    SideBySide compared = compare(steps("off", 0.3, 1), steps("2", 0.1, 2));
    TimesAsFast times = only(compared).timesAsFast();

    assertThat(times.from()).isEqualTo("steps");
    assertThat(times.low()).isBetween(2.8, 3.0);
    assertThat(times.high()).isBetween(3.0, 3.2);
    // With the first epoch, which is three times as slow, times would be 5 / 3 as long.
    assertThat(times.value()).isCloseTo(3, within(0.06));
    assertThat(only(compared).differs()).isTrue();
    assertThat(SideBySideText.lines(compared))
        .contains(
            "The variation between identical runs is unknown: record each side several times, and"
                + " compare them with coordl compare BEFORE1 BEFORE2 -- AFTER1 AFTER2");
    assertThat(SideBySideText.lines(compared).get(0))
        .matches(
            ".* is [23][.]\\d\\dx as fast as .* [(]2[.]\\d\\d to 3[.]\\d\\d[)], by their steps"
                + " after warm-up");
  }

  @Test
  void ifOneRunHasNoStepsEpochsAreCompared() throws Exception {
    Compared one = only(compare(steps("off", 0.3, 1), job("2", 50, 10, 10, 11)));

    assertThat(one.timesAsFast().from()).isEqualTo("epochs");
    assertThat(one.timesAsFast().value()).isCloseTo(3, within(0.2));
  }

  @Test
  void withoutStepsTheRangeComesFromTheSteadyEpochs() throws Exception {
    Compared run = only(compare(job("off", 90, 30, 31, 29), job("2", 50, 10, 10, 10)));

    // Student's t for 2 degrees of freedom is 4.303. 4.303 x 1 / sqrt(3) / 30 = 0.083, a factor of
    // e^0.083 = 1.086.
    assertThat(run.timesAsFast().value()).isCloseTo(3, within(1e-9));
    assertThat(run.timesAsFast().low()).isCloseTo(3 / 1.0864, within(0.001));
    assertThat(run.timesAsFast().high()).isCloseTo(3 * 1.0864, within(0.001));
    assertThat(run.differs()).isTrue();
    assertThat(run.changed())
        .containsOnlyKeys("prefetch")
        .containsEntry("prefetch", new Change("off", "2"));
  }

  @Test
  void theRangeOfSeveralRunsASideIncludesTheirSpread() throws Exception {
    List<JobRecording> before = new ArrayList<>();
    List<JobRecording> after = new ArrayList<>();
    for (int run = 0; run < 3; run++) {
      before.add(Recordings.read(steps("off", 0.3 + 0.01 * run, run)));
      after.add(Recordings.read(steps("2", 0.1 + 0.004 * run, 10 + run)));
    }

    SideBySide compared = SideBySide.ofSides(before, after, false);

    Compared one = only(compared);
    assertThat(one.before()).containsExactly(0, 1, 2);
    assertThat(one.after()).containsExactly(3, 4, 5);
    assertThat(one.timesAsFast().from()).isEqualTo("runs");
    assertThat(one.timesAsFast().value()).isCloseTo(0.31 / 0.104, within(0.06));
    assertThat(one.timesAsFast().high() / one.timesAsFast().low()).isBetween(1.1, 1.4);
    assertThat(SideBySideText.lines(compared).get(0))
        .contains(" and 2 more are ", "x as fast as ", ", by 3 and 3 runs");
    assertThat(SideBySideText.lines(compared)).noneMatch(line -> line.contains("Identical runs"));
  }

  @Test
  void theVariationBetweenIdenticalRunsIsReportedBesideTheRange() throws Exception {
    List<JobRecording> two =
        List.of(Recordings.read(steps("off", 0.3, 1)), Recordings.read(steps("2", 0.29, 2)));
    List<JobRecording> beside =
        List.of(
            Recordings.read(steps("off", 0.33, 3)),
            Recordings.read(steps("4", 0.9, 4)),
            Recordings.read(() -> Recordings.emitTotals(1, 1, 1, 0)));

    SideBySide compared = SideBySide.of(two, beside, false);

    assertThat(only(compared).equalRuns().runs()).isEqualTo(2);
    assertThat(only(compared).equalRuns().timesAsFast()).isCloseTo(1.1, within(0.03));
    assertThat(only(compared).timesAsFast().differs()).isTrue();
    assertThat(only(compared).differs()).isFalse();
    assertThat(SideBySideText.lines(compared).get(0))
        .contains(" may be as fast as ", ", and identical runs differ by as much");
    assertThat(SideBySideText.lines(compared))
        .anyMatch(
            line ->
                line.matches(
                    "Identical runs in the same directory differ by up to \\d+[.]\\d % .2 runs."));
  }

  @Test
  void differentJobsAreComparedOnlyOnRequest() throws Exception {
    Runnable other =
        () -> {
          Recordings.emitDoubleSizeEpoch(1, 30 * SECOND);
          Recordings.emitDoubleSizeEpoch(2, 30 * SECOND);
          Recordings.emitOtherTotals(2, 60 * SECOND);
        };
    List<JobRecording> two = List.of(Recordings.read(job("off", 90, 30)), Recordings.read(other));

    SideBySide refused = SideBySide.of(two);

    assertThat(only(refused).timesAsFast()).isNull();
    assertThat(refused.different()).isNotNull();
    assertThat(only(refused).different())
        .containsEntry("main class", new Change("my.Train", "my.Other"))
        .containsEntry("data set", new Change("my.Images", "my.OtherImages"))
        .containsEntry("samples per epoch", new Change("3,200", "6,400"))
        .containsEntry("samples per batch", new Change("32.0", "64.0"))
        .hasSize(4);
    assertThat(SideBySideText.lines(refused).get(0))
        .contains(" is not of the same job as ", "main class=my.Other (was my.Train)");
    assertThat(only(SideBySide.of(two, List.of(), true)).timesAsFast()).isNotNull();
    assertThat(SideBySide.of(List.of(two.get(0), two.get(0))).different()).isNull();
  }

  @Test
  void aFewVeryLongStepsAreReported() throws Exception {
    Runnable pausing =
        () -> {
          double[] nanos = new double[200];
          Arrays.fill(nanos, 1e7);
          nanos[70] = 1e9;
          nanos[150] = 1e9;
          Recordings.emitSteps(1, nanos);
          Recordings.emitEpoch(1, 4 * SECOND, 0);
        };

    Compared one = only(compare(steps("off", 0.01, 1), pausing));

    assertThat(one.remarks())
        .containsExactly(
            new Remark(1, "has a few very long steps: the slowest 1 % take 50 % of the time"));
  }

  @Test
  void anotherMachineCountsAsAChange() throws Exception {
    Runnable before = job("off", 90, 30, 31, 29);
    Runnable after = job("2", 50, 10, 10, 10);
    SideBySide moved =
        compare(
            () -> {
              before.run();
              Recordings.emitEnvironment(2);
            },
            () -> {
              after.run();
              Recordings.emitEnvironment(8);
            });

    assertThat(SideBySideText.lines(moved).get(1))
        .isEqualTo("  changed: cores=8 (was 2), prefetch=2 (was off)");
  }

  @Test
  void aDifferenceWithinChanceIsNotClaimed() throws Exception {
    SideBySide same = compare(job("off", 90, 20, 30, 40), job("2", 90, 25, 28, 31));

    assertThat(only(same).differs()).isFalse();
    assertThat(SideBySideText.lines(same).get(0))
        .contains(
            " may be as fast as ", ": it is 1.1x as fast (0.45 to 2.6)", "from the second epoch");
  }

  @Test
  void tooFewEpochsGiveNoRange() throws Exception {
    SideBySide few = compare(job("off", 90, 20), job("off", 90, 10));

    assertThat(only(few).timesAsFast())
        .isEqualTo(new TimesAsFast(2, null, null, "totals", "in the second epoch"));
    assertThat(SideBySideText.lines(few))
        .first()
        .asString()
        .endsWith(" in the second epoch (too little was recorded for a confidence interval)");
    assertThat(SideBySideText.lines(few).get(1)).isEqualTo("  with the same arguments");
  }

  @Test
  void theTextHasTheChangesAndALineForEach() throws Exception {
    SideBySide all =
        compare(job("off", 90, 30, 31, 29), job("2", 50, 10, 10, 10), job("4", 50, 60, 60, 60));

    List<String> lines = SideBySideText.lines(all);

    assertThat(lines).hasSize(9);
    assertThat(lines.get(0))
        .contains(" is 3.00x as fast as ", " (2.76 to 3.26), from the second epoch on");
    assertThat(lines.get(1)).isEqualTo("  changed: prefetch=2 (was off)");
    assertThat(lines.get(2)).contains(" is 0.50x as fast as ", " (0.46 to 0.54), ");
    assertThat(lines.get(4)).startsWith("The variation between identical runs is unknown: ");
    assertThat(lines.get(5)).contains("samples/s", "stall", "recording");
    assertThat(lines.get(6)).startsWith("      107 ");
    assertThat(SideBySideText.slowestFirst(all.runs()).get(1)).startsWith("     53.3 ");
  }

  @Test
  void thePredictionOfFollowedAdviceIsShown() throws Exception {
    Runnable before = job("off", 90, 30, 31, 29);
    var next = compare(before, before).runs().get(0).next();
    assertThat(next.gain()).isGreaterThan(1);
    Runnable after =
        () -> {
          next.arguments()
              .forEach(
                  argument ->
                      Recordings.emitConfiguration(
                          argument.replaceFirst("=.*", ""), argument.replaceFirst("[^=]*=", "")));
          Recordings.emitEpoch(1, 20 * SECOND, SECOND);
          Recordings.emitTotals(1, 100, 20 * SECOND, SECOND);
        };

    assertThat(only(compare(before, after)).predicted()).isEqualTo(next.gain());
    assertThat(only(compare(before, before)).predicted()).isNull();
    Runnable andMore =
        () -> {
          after.run();
          Recordings.emitConfiguration("checkpoint", "async");
        };
    assertThat(only(compare(before, andMore)).predicted()).as("more was changed").isNull();
  }

  @Test
  void aPredictedChangeIsShownWithTheRangeOfWhatIf() throws Exception {
    Runnable before = cold("off");
    WhatIf all = WhatIf.of(Recordings.read(before));
    Answer decoded =
        all.answers().stream()
            .filter(answer -> answer.question().equals("decoded"))
            .findFirst()
            .orElseThrow();
    assertThat(decoded.arguments()).contains("decoded=share");
    Runnable after = cold("share");

    Compared run = only(compare(before, after));

    Measure range = decoded.figure().measure();
    assertThat(run.whatIf()).isEqualTo(range);
    assertThat(SideBySideText.lines(compare(before, after)).get(0))
        .endsWith(Text.format("; predicted: %.2fx to %.2fx", range.low(), range.high()));
    Runnable andMore =
        () -> {
          after.run();
          Recordings.emitConfiguration("checkpoint", "async");
        };
    assertThat(only(compare(before, andMore)).whatIf()).as("more was changed").isNull();
    assertThat(only(compare(before, before)).whatIf()).as("nothing was changed").isNull();
  }

  /** Returns a job that waits for storage in each epoch. */
  private static Runnable cold(String decoded) {
    return () -> {
      Recordings.emitConfiguration("decoded", decoded);
      for (int epoch = 1; epoch <= 4; epoch++) {
        Recordings.emitColdEpoch(epoch, (60 + epoch) * SECOND, 30 * SECOND);
      }
      Recordings.emitTotals(4, 400, 250 * SECOND, 120 * SECOND);
    };
  }

  @Test
  void aLongValueIsShownWhereItDiffers() throws Exception {
    SideBySide same = compare(job("off", 90), job("off", 90));
    String program = "my.Train --data /data/images --validate /data/held-out --epochs ";
    Change change = new Change(program + "3", program + "12");
    SideBySide changed =
        new SideBySide(
            SideBySide.SCHEMA_VERSION,
            List.of(
                new Compared(
                    List.of(0),
                    List.of(1),
                    Map.of(),
                    null,
                    null,
                    null,
                    null,
                    Map.of("program", change),
                    List.of())),
            same.runs());

    assertThat(SideBySideText.lines(changed).get(1))
        .isEqualTo("  changed: program=...12 (was ...3)");
  }

  @Test
  void itemsThatCameDecodedCountAsFromMemory() throws Exception {
    SideBySide one =
        compare(
            () -> {
              Recordings.emitColdEpoch(1, 70 * SECOND, 40 * SECOND);
              Recordings.emitDecodedStore(1_000);
            });

    assertThat(SideBySideText.slowestFirst(one.runs()).get(1)).contains("  50.0      1  ");
  }

  @Test
  void theJsonMatchesItsSchema() throws Exception {
    String json =
        EventJson.mapper()
            .build()
            .writeValueAsString(
                compare(job("off", 90, 30, 31, 29), job("2", 50, 10, 10, 10), job("2", 90, 20)));

    assertThat(
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(SideBySide.class.getResourceAsStream("compare.schema.json"))
                .validate(json, InputFormat.JSON))
        .isEmpty();
  }
}
