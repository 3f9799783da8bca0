package io.coordl.reports.differential;

import static io.coordl.reports.recording.Profiles.emitPhase;
import static io.coordl.reports.recording.Recordings.SECOND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Profiles;
import io.coordl.reports.recording.RecordingReader;
import io.coordl.reports.recording.Recordings;
import io.coordl.telemetry.event.PhaseEvent;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DifferentialTest {
  private static final Offset<Double> EXACT = within(1e-9);

  @TempDir Path folder;

  private JobRecording recording(String name, Runnable events) throws Exception {
    return RecordingReader.read(
        Recordings.record(folder.resolve(name + ".jfr"), events), done -> {});
  }

  private static Differential of(JobRecording... recordings) {
    return Differential.of(List.of(recordings), Optional.empty());
  }

  private static Differential.Share part(Differential differential, String name) {
    return differential.shares().stream()
        .filter(share -> share.part().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static Measure share(Differential differential, String part) {
    return part(differential, part).share();
  }

  @Test
  void theDifferencesAreTheStallsAndAddUpToTheEpoch() throws Exception {
    Differential profile = Differential.of(recording("all", Profiles::emitSerial));

    // 2 ms compute; 3 ms prep of which 0.1 ms are pauses; 1 ms fetch.
    assertThat(share(profile, "compute").value()).isCloseTo(2 / 6.0, EXACT);
    assertThat(share(profile, "prepStall").value()).isCloseTo(2.9 / 6, EXACT);
    assertThat(share(profile, "fetchStall").value()).isCloseTo(1 / 6.0, EXACT);
    assertThat(share(profile, "gcStall").value()).isCloseTo(0.1 / 6, EXACT);
    // (t3 - t2) / t3 = 1 - t2 / t3, and each t is known to 1 %.
    assertThat(share(profile, "fetchStall").error())
        .isCloseTo(5 / 6.0 * Math.hypot(0.01, 0.01), within(2e-4));
    assertThat(profile.ingestionRate().value()).isCloseTo(500, EXACT);
    assertThat(profile.prepRate().value()).isCloseTo(1 / 0.003, within(1e-6));
    assertThat(profile.fetchRate().value()).isCloseTo(1_000, within(1e-6));
    assertThat(profile.limit()).isEqualTo("prepStall");
    assertThat(profile.workers()).isZero();
    assertThat(profile.unit()).isEqualTo("sample");
    assertThat(profile.missing()).isEmpty();
    assertThat(profile.remarks()).isEmpty();
  }

  @Test
  void theLiveAttributionOfTheColdPhaseIsShownBesideTheMeasuredShares() throws Exception {
    Differential profile = Differential.of(recording("all", Profiles::emitSerial));

    Differential.Share fetch = part(profile, "fetchStall");
    assertThat(fetch.live()).isCloseTo(1 / 8.0, EXACT);
    assertThat(fetch.difference()).isCloseTo(1 / 8.0 - 1 / 6.0, EXACT);
    assertThat(profile.live().of()).isEqualTo("cold");
    assertThat(part(profile, "queueStall").live())
        .isCloseTo(1 - 1 / 3.0 - 1 / 2.0 - 1 / 8.0 - 1 / 60.0, EXACT);
  }

  /** The times of the phases leave out the time without a core, so the live shares must, too. */
  @Test
  void timeInWhichOtherProgramsHadTheCoresIsInNoShare() throws Exception {
    JobRecording busy =
        recording(
            "busy",
            () -> {
              emitPhase("ingestion", 0, 2e6, 0, 0);
              emitPhase("cached", 0, 5e6, 0, 3e6);
              PhaseEvent cold = Profiles.phase("cold", 0, 6e6, 0, 0);
              long samples = cold.samples;
              cold.wall = samples * 14_000_000; // 6 of its own, 8 without a core.
              cold.compute = samples * 7_000_000;
              cold.computeCoreWait = samples * 5_000_000;
              cold.stall = samples * 7_000_000;
              cold.fetchStall = samples * 1_750_000;
              cold.prepStall = samples * 5_250_000;
              cold.fetchTime = cold.fetchStall;
              cold.otherTime = cold.prepStall;
              cold.prepCoreWait = samples * 3_000_000;
              cold.coreWait = samples * 8_000_000;
              cold.commit();
            });

    Differential profile = Differential.of(busy);

    assertThat(part(profile, "compute").live()).isCloseTo(2 / 6.0, EXACT);
    assertThat(part(profile, "prepStall").live()).isCloseTo(3 / 6.0, EXACT);
    assertThat(part(profile, "fetchStall").live()).isCloseTo(1 / 6.0, EXACT);
    assertThat(part(profile, "fetchStall").difference()).isCloseTo(0, EXACT);
    assertThat(profile.remarks())
        .contains(
            "other programs used the cores for 57 % of the phase cold; this time is not counted."
                + " Rerun on an idle machine.");
  }

  @Test
  void anOrdinaryRecordingReplacesTheLiveAttribution() throws Exception {
    JobRecording ordinary =
        recording("job", () -> Recordings.emitTotals(1, 100, 70 * SECOND, 40 * SECOND));

    Differential profile =
        Differential.of(List.of(recording("all", Profiles::emitSerial)), Optional.of(ordinary));

    assertThat(profile.live().of()).isEqualTo("job");
    assertThat(part(profile, "fetchStall").live()).isCloseTo(40 / 70.0, EXACT);
  }

  @Test
  void threeProfilesMayComeInAnyOrder() throws Exception {
    JobRecording ingestion = recording("i", () -> emitPhase("ingestion", 2, 2e6, 0, 0));
    JobRecording cached = recording("p", () -> emitPhase("cached", 2, 5e6, 0, 0));
    JobRecording cold = recording("c", () -> emitPhase("cold", 2, 8e6, 0, 0));

    Differential inOrder = of(ingestion, cached, cold);
    Differential mixed = of(cold, ingestion, cached);

    assertThat(mixed.shares()).isEqualTo(inOrder.shares());
    assertThat(share(mixed, "prepStall").value()).isCloseTo(3 / 8.0, EXACT);
    // With workers, only the slowest stage shows, so P and F are the rates of their phases.
    assertThat(mixed.prepRate().value()).isCloseTo(200, within(1e-6));
    assertThat(mixed.fetchRate().value()).isCloseTo(125, within(1e-6));
    assertThat(mixed.timings()).extracting(Timing::file).contains(cold.file().toString());
  }

  @Test
  void ordinaryRecordingsAreIdentifiedByTheirPosition() throws Exception {
    JobRecording[] recordings = new JobRecording[3];
    long[] seconds = {20, 30, 60};
    for (int i = 0; i < 3; i++) {
      long wall = seconds[i] * SECOND;
      recordings[i] =
          recording(
              "job" + i,
              () -> {
                Recordings.emitEpoch(1, 5 * wall, SECOND);
                Recordings.emitEpoch(2, wall + SECOND + SECOND / 10, SECOND);
                Recordings.emitEpoch(3, wall + SECOND - SECOND / 10, SECOND);
                Recordings.emitTotals(3, 300, 7 * wall, SECOND);
              });
    }

    Differential differential = of(recordings);

    // Without the first epoch and the checkpoint of 1 s; 100 batches an epoch, with 0.25 s of
    // pauses in the waits.
    assertThat(differential.timings()).allMatch(timing -> timing.origin().equals("epochs"));
    assertThat(share(differential, "compute").value()).isCloseTo(20 / 60.0, EXACT);
    assertThat(share(differential, "prepStall").value()).isCloseTo(9.75 / 60.0, EXACT);
    assertThat(share(differential, "fetchStall").value()).isCloseTo(30 / 60.0, EXACT);
    assertThat(differential.timings().get(0).batchNanos().error()).isGreaterThan(1e6);
    assertThat(differential.live().file()).endsWith("job2.jfr");
  }

  @Test
  void missingFiguresAreReportedNotGuessed() throws Exception {
    JobRecording tooShort = recording("short", () -> Recordings.emitEpoch(1, 30 * SECOND, SECOND));
    Differential ordinary = of(tooShort, tooShort, tooShort);
    Differential noCold =
        Differential.of(
            recording(
                "nocold",
                () -> {
                  emitPhase("ingestion", 1, 2e6, 0, 0);
                  emitPhase("cached", 1, 2e6, 0, 0);
                  PhaseEvent cold = Profiles.phase("cold", 1, 3e6, 0, 0);
                  cold.steps = 0;
                  cold.note = "the data set has too few items";
                  cold.commit();
                }));

    assertThat(ordinary.timings()).isEmpty();
    assertThat(ordinary.missing())
        .hasSizeGreaterThan(2)
        .anyMatch(missing -> missing.reason().contains("three complete epochs"));
    assertThat(share(noCold, "fetchStall")).isNull();
    assertThat(noCold.ingestionRate().value()).isCloseTo(500, EXACT);
    assertThat(noCold.limit()).isEqualTo("unknown");
    assertThat(noCold.missing())
        .anyMatch(missing -> missing.reason().contains("the data set has too few items"))
        .anyMatch(missing -> missing.reason().contains("preparation is hidden behind compute"))
        .anyMatch(missing -> missing.figure().equals("fetch rate F"));
  }

  @Test
  void negativePartsAreClippedAndReported() throws Exception {
    Differential noise =
        Differential.of(
            recording(
                "noise",
                () -> {
                  emitPhase("ingestion", 1, 2.01e6, 0, 0);
                  emitPhase("cached", 1, 2e6, 0, 0);
                  emitPhase("cold", 1, 4e6, 0, 0);
                }));
    Differential wrong =
        Differential.of(
            recording(
                "wrong",
                () -> {
                  emitPhase("ingestion", 1, 3e6, 0, 0);
                  emitPhase("cached", 1, 2e6, 0, 0);
                  emitPhase("cold", 1, 4e6, 0, 0);
                }));

    assertThat(share(noise, "prepStall").value()).isZero();
    assertThat(share(noise, "compute").value()).isCloseTo(0.5, EXACT);
    assertThat(noise.remarks())
        .singleElement()
        .asString()
        .contains("by less than the measurement error: no prep stall");
    assertThat(wrong.remarks()).singleElement().asString().contains("do not rely on this profile");
    assertThat(wrong.limit()).isEqualTo("unknown");
  }

  /** Phases with errors of {@code percent}, as on a busy machine. */
  private Differential noisy(double ingestion, double cached, double cold, int percent)
      throws Exception {
    return Differential.of(
        recording(
            "noisy",
            () -> {
              emitNoisy("ingestion", ingestion, percent);
              emitNoisy("cached", cached, percent);
              emitNoisy("cold", cold, percent);
            }));
  }

  private static void emitNoisy(String name, double nanos, int percent) {
    PhaseEvent event = Profiles.phase(name, 0, nanos, 0, 0);
    event.sampleNanosError = nanos * percent / 100;
    event.steady = false;
    event.commit();
  }

  @Test
  void clippedNoiseKeepsItsError() throws Exception {
    Differential noise = noisy(22e6, 16e6, 8e6, 45);

    // Clipping makes the share 100 %; the error comes from the unclipped differences.
    assertThat(share(noise, "compute").value()).isCloseTo(1, EXACT);
    assertThat(share(noise, "compute").error()).isGreaterThan(1);
    assertThat(share(noise, "prepStall").error()).isGreaterThan(0.75);
    assertThat(share(noise, "fetchStall").error()).isGreaterThan(1);
    assertThat(noise.limit()).isEqualTo("unknown");
    assertThat(noise.missing()).extracting(Missing::figure).contains("limit");
    assertThat(DifferentialText.lines(noise))
        .contains("Limit       unknown; rerun on an idle machine");
  }

  @Test
  void theLimitIsNamedOnlyBeyondMeasurementError() throws Exception {
    assertThat(noisy(5e6, 9e6, 10e6, 2).limit()).isEqualTo("compute");
    assertThat(noisy(4.9e6, 9.7e6, 10e6, 2).limit()).isEqualTo("unknown");
    assertThat(noisy(2e6, 3e6, 10e6, 10).limit()).isEqualTo("fetchStall");
    // Precise but impossible: something else changed between the phases.
    assertThat(noisy(20e6, 10e6, 5e6, 1).limit()).isEqualTo("unknown");
  }

  @Test
  void differencesBetweenRecordingsAreReported() throws Exception {
    JobRecording ingestion =
        recording(
            "i",
            () -> {
              Recordings.emitConfiguration("decoded", "share");
              Recordings.emitConfiguration("profile", "ingestion");
              emitPhase("ingestion", 0, 2e6, 0, 0);
            });
    JobRecording cached = recording("p", () -> emitPhase("cached", 1, 5e6, 0, 0));
    JobRecording cold =
        recording(
            "c",
            () -> {
              PhaseEvent event = Profiles.phase("cold", 2, 18e6, 0, 0);
              event.samples /= 2;
              event.steady = false;
              event.note = "time was up";
              event.commit();
            });

    assertThat(of(ingestion, cached, cold).remarks())
        .anyMatch(remark -> remark.startsWith("the argument decoded differs"))
        .anyMatch(
            remark ->
                remark.startsWith("the number of workers differs")
                    && remark.contains("1 in cached, 2 in cold"))
        .anyMatch(
            remark ->
                remark.startsWith("the number of samples in a batch differs")
                    && remark.contains("16.0 in cold"))
        .anyMatch(remark -> remark.startsWith("cold (time was up) ended before times were steady"))
        .noneMatch(remark -> remark.contains("profile differs"))
        .hasSize(4);
  }

  @Test
  void aProfileThatEndedEarlyIsReportedAsSuch() throws Exception {
    JobRecording early =
        recording(
            "early",
            () -> {
              Recordings.emitConfiguration("profile", "all");
              emitPhase("cold", 0, 6e6, 0, 0);
            });

    assertThat(Differential.of(early).missing())
        .extracting(Missing::reason)
        .contains(
            "the profile ended before the phase ingestion was measured; the agent's output during"
                + " the run shows why.");
  }
}
