package io.coordl.reports.comparison;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.coordl.advice.Text;
import io.coordl.reports.comparison.SideBySide.Run;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Recordings;
import io.coordl.reports.summary.EventJson;
import io.coordl.reports.whatif.Answer;
import io.coordl.reports.whatif.WhatIf;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SideBySideTest {
  private static final long SECOND = Recordings.SECOND;

  /** Epochs that take so many seconds each, of 3200 samples; the first warms up. */
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

  @Test
  void speedsAreOfTheSteadyEpochsAndTheirSpreadIsTheError() throws Exception {
    Run run = compare(job("off", 90, 30, 31, 29), job("2", 50, 10, 10, 10)).runs().get(1);

    assertThat(run.timesAsFast()).isNotNull();
    assertThat(run.timesAsFast().value()).isCloseTo(3, within(1e-9));
    // Student's t of two degrees of freedom, 4.303, times 1 / sqrt(3), of 30: an error of 0.248.
    assertThat(run.timesAsFast().error()).isCloseTo(0.248, within(0.001));
    assertThat(run.timesAsFast().differs()).isTrue();
    assertThat(run.changed())
        .containsOnlyKeys("prefetch")
        .containsEntry("prefetch", new SideBySide.Change("off", "2"));
  }

  @Test
  void anotherMachineIsAChangeToo() throws Exception {
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
  void whatChanceExplainsIsNoDifference() throws Exception {
    SideBySide same = compare(job("off", 90, 20, 30, 40), job("2", 90, 25, 28, 31));

    assertThat(same.runs().get(1).timesAsFast().differs()).isFalse();
    assertThat(SideBySideText.lines(same).get(0))
        .contains(" may be as fast as ", ": it is 1.07 ± ", " times as fast from the second epoch");
  }

  @Test
  void ofTooFewEpochsNoErrorIsClaimed() throws Exception {
    SideBySide few = compare(job("off", 90, 20), job("off", 90, 10));

    assertThat(few.runs().get(1).timesAsFast())
        .isEqualTo(new SideBySide.TimesAsFast(2, null, "in the second epoch"));
    assertThat(SideBySideText.lines(few))
        .first()
        .asString()
        .endsWith(" in the second epoch (too few epochs to say how sure that is)");
    assertThat(SideBySideText.lines(few).get(1)).isEqualTo("  with the same arguments");
  }

  @Test
  void theTextHasTheChangesAndALineForEach() throws Exception {
    SideBySide all =
        compare(job("off", 90, 30, 31, 29), job("2", 50, 10, 10, 10), job("4", 50, 60, 60, 60));

    List<String> lines = SideBySideText.lines(all);

    assertThat(lines).hasSize(8);
    assertThat(lines.get(0)).contains(" is 3.00 ± 0.25 times as fast as ");
    assertThat(lines.get(1)).isEqualTo("  changed: prefetch=2 (was off)");
    assertThat(lines.get(2)).contains(" is 0.50 ± 0.04 times as fast as ");
    assertThat(lines.get(4)).contains("samples/s", "stall", "recording");
    assertThat(lines.get(5)).startsWith("      107 ");
    assertThat(SideBySideText.slowestFirst(all.runs().stream().map(Run::summary).toList()).get(1))
        .startsWith("     53.3 ");
  }

  @Test
  void whatWasAdvisedAndDoneWasPredicted() throws Exception {
    Runnable before = job("off", 90, 30, 31, 29);
    var next = compare(before, before).runs().get(0).summary().next();
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

    assertThat(compare(before, after).runs().get(1).predicted()).isEqualTo(next.gain());
    assertThat(compare(before, before).runs().get(1).predicted()).isNull();
    Runnable andMore =
        () -> {
          after.run();
          Recordings.emitConfiguration("checkpoint", "async");
        };
    assertThat(compare(before, andMore).runs().get(1).predicted()).as("nobody did").isNull();
  }

  @Test
  void whatIfSaysARangeOfWhatWasDone() throws Exception {
    Runnable before = cold("off");
    WhatIf all = WhatIf.of(Recordings.read(before));
    Answer decoded =
        all.answers().stream()
            .filter(answer -> answer.question().equals("decoded"))
            .findFirst()
            .orElseThrow();
    assertThat(decoded.arguments()).contains("decoded=share");
    Runnable after = cold("share");

    Run run = compare(before, after).runs().get(1);

    Measure range = decoded.figure().measure();
    assertThat(run.whatIf()).isEqualTo(range);
    assertThat(SideBySideText.lines(compare(before, after)).get(0))
        .endsWith(
            Text.format(
                "; predicted: %.2f to %.2f times",
                range.value() - range.error(), range.value() + range.error()));
    Runnable andMore =
        () -> {
          after.run();
          Recordings.emitConfiguration("checkpoint", "async");
        };
    assertThat(compare(before, andMore).runs().get(1).whatIf()).as("nobody did").isNull();
    assertThat(compare(before, before).runs().get(1).whatIf()).as("nothing was done").isNull();
  }

  /** A job that waits for storage in each epoch. */
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
    Run first = compare(job("off", 90)).runs().get(0);
    String program = "my.Train --data /data/images --validate /data/held-out --epochs ";
    SideBySide changed =
        new SideBySide(
            SideBySide.SCHEMA_VERSION,
            List.of(
                first,
                new Run(
                    null,
                    null,
                    null,
                    Map.of("program", new SideBySide.Change(program + "3", program + "12")),
                    first.summary())));

    assertThat(SideBySideText.lines(changed).get(1))
        .isEqualTo("  changed: program=...12 (was ...3)");
  }

  @Test
  void whatCameDecodedFromMemoryCounts() throws Exception {
    SideBySide one =
        compare(
            () -> {
              Recordings.emitColdEpoch(1, 70 * SECOND, 40 * SECOND);
              Recordings.emitDecodedStore(1_000);
            });

    assertThat(SideBySideText.slowestFirst(List.of(one.runs().get(0).summary())).get(1))
        .contains("  50.0      1  ");
  }

  @Test
  void theJsonIsAsItsSchemaSays() throws Exception {
    String json =
        EventJson.mapper()
            .build()
            .writeValueAsString(compare(job("off", 90, 30, 31, 29), job("2", 50, 10, 10, 10)));

    assertThat(
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(SideBySide.class.getResourceAsStream("compare.schema.json"))
                .validate(json, InputFormat.JSON))
        .isEmpty();
  }
}
