package io.coordl.reports.whatif;

import static io.coordl.reports.recording.Profiles.emitPhase;
import static io.coordl.reports.recording.Profiles.phase;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.reports.cluster.DemandTable;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Profiles;
import io.coordl.reports.recording.Recordings;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** Speeds by cores, memory and storage, compared with hand-computed ones. */
class SpeedLawTest {
  private static final Offset<Double> NEAR = within(1e-6);

  /** Two workers: compute 1 ms, prep 1.2 ms and fetch 2.8 ms on a thread. */
  private static JobRecording workers(long cores, double cachedNanos, double stepCores)
      throws Exception {
    return Recordings.read(
        () -> {
          PhaseEvent ingestion = phase("ingestion", 2, 1e6, 0, 0);
          ingestion.cpu = Math.round(stepCores * ingestion.wall);
          ingestion.commit();
          emitPhase("cached", 2, cachedNanos, 0.05e6, 1.15e6);
          emitPhase("cold", 2, 2e6, 2.85e6, 1.15e6);
          emitPhase("prep", 1, 1.2e6, 0, 1.2e6);
          Profiles.emitHost(cores, 500_000_000L, 200_000_000L, 0.9e6);
        });
  }

  @Test
  void memoryFollowsTheLawOfACacheWithoutEviction() throws Exception {
    SpeedLaw law = SpeedLaw.of(List.of(workers(8, 1e6, 0)), null, false);

    // Each of two workers takes 1.2 ms, and 2.8 ms for each miss.
    assertThat(law.speed(8, 1, 1)).isCloseTo(1000, NEAR);
    assertThat(law.speed(8, 0, 1)).isCloseTo(1e9 / (1.2e6 + 2.8e6) * 2, NEAR);
    assertThat(law.speed(8, 0.5, 1)).isCloseTo(1e9 / (1.2e6 + 1.4e6) * 2, NEAR);
    // A storage twice as fast answers a miss in half the time.
    assertThat(law.speed(8, 0, 2)).isCloseTo(1e9 / (1.2e6 + 1.4e6) * 2, NEAR);
    // One core prepares a sample in 1.2 ms.
    assertThat(law.speed(1, 1, 1)).isCloseTo(1e9 / 1.2e6, NEAR);
  }

  @Test
  void theStepsHaveFewerCoresToo() throws Exception {
    SpeedLaw law = SpeedLaw.of(List.of(workers(8, 1e6, 3)), null, false);

    // A step takes 3 ms of core time, preparation 1.2 ms.
    assertThat(law.speed(2, 1, 1)).isCloseTo(1e9 / 2.1e6, within(1e-3));
    assertThat(law.speed(8, 1, 1)).isCloseTo(1000, within(1e-3));
  }

  /** Other programs used the cores for half of the phase; its times exclude that half. */
  @Test
  void timeOfOtherProgramsIsNotStepTime() throws Exception {
    JobRecording busy =
        Recordings.read(
            () -> {
              PhaseEvent ingestion = phase("ingestion", 2, 1e6, 0, 0);
              ingestion.cpu = ingestion.wall;
              ingestion.wall *= 2;
              ingestion.commit();
              emitPhase("cached", 2, 1e6, 0.05e6, 1.15e6);
              emitPhase("prep", 1, 1.2e6, 0, 1.2e6);
              Profiles.emitHost(8, 500_000_000L, 200_000_000L, 0.9e6);
            });

    assertThat(SpeedLaw.of(List.of(busy), null, false).stepCores())
        .extracting(cores -> cores == null ? 0 : cores.value())
        .isEqualTo(1.0);
  }

  @Test
  void betweenMeasuredNumbersOfCoresTheLawIsScaled() throws Exception {
    SpeedLaw law =
        SpeedLaw.of(
            List.of(workers(8, 1e6, 0), workers(1, 1.5e6, 0), workers(2, 1.1e6, 0)), null, false);

    assertThat(law.measured()).extracting(SpeedLaw.Measured::cores).containsExactly(1L, 2L, 8L);
    assertThat(law.speed(1, 1, 1)).isCloseTo(1e9 / 1.5e6, NEAR);
    assertThat(law.speed(2, 1, 1)).isCloseTo(1e9 / 1.1e6, NEAR);
    // The law gives 1 ms on 5 cores. The measured time is 10 % longer on 2 cores and equal on 8, so
    // it is 5 % longer on 5.
    assertThat(law.speed(5, 1, 1)).isCloseTo(1e9 / 1.05e6, NEAR);
  }

  /** Returns a profile of the phase cached alone, which is all that is measured on fewer cores. */
  private static JobRecording cachedAlone(long cores, double nanos) throws Exception {
    return Recordings.read(
        () -> {
          emitPhase("cached", 2, nanos, 0.05e6, 1.15e6);
          Profiles.emitHost(cores, 500_000_000L, 200_000_000L, 0.9e6);
        });
  }

  @Test
  void theCachedPhaseAloneDeterminesTheSpeedOnFewerCores() throws Exception {
    SpeedLaw law = SpeedLaw.of(List.of(workers(2, 1e6, 0), cachedAlone(1, 1.5e6)), null, false);

    assertThat(law.measured()).extracting(SpeedLaw.Measured::cores).containsExactly(1L, 2L);
    assertThat(law.speed(1, 1, 1)).isCloseTo(1e9 / 1.5e6, NEAR);
    // Half of that core is a quota and has half of its speed.
    assertThat(law.speed(0.5, 1, 1)).isCloseTo(1e9 / 3e6, NEAR);
    // Storage is no slower on fewer cores: a worker prepares in 1.5 ms and waits 2.8 ms for a miss.
    assertThat(law.speed(1, 0, 1)).isCloseTo(1e9 / (1.2e6 * 1.25 + 2.8e6) * 2, within(1e-3));
  }

  /**
   * Side by side on two cores, two threads take 2.4 ms of CPU for a sample; on one core, 1.5 ms.
   */
  @Test
  void threadsWithinAQuotaCostAsMuchAsSideBySide() throws Exception {
    JobRecording all =
        Recordings.read(
            () -> {
              emitPhase("ingestion", 2, 1e6, 0, 0);
              PhaseEvent cached = phase("cached", 2, 1.2e6, 0.05e6, 1.15e6);
              cached.cpu = 2 * cached.wall;
              cached.commit();
              emitPhase("prep", 1, 1.5e6, 0, 1.5e6);
              Profiles.emitHost(2, 500_000_000L, 200_000_000L, 0.9e6);
            });
    List<JobRecording> recordings = List.of(all, cachedAlone(1, 1.5e6));
    SpeedLaw sets = SpeedLaw.of(recordings, 0.0, false);
    SpeedLaw quotas = SpeedLaw.of(recordings, 0.0, true);

    assertThat(sets.speed(1, 1, 1)).isCloseTo(1e9 / 1.5e6, NEAR);
    assertThat(quotas.speed(1, 1, 1)).isCloseTo(1e9 / 2.4e6, NEAR);
    // A fraction of a core is always a quota; all cores of the host are never a quota.
    assertThat(sets.speed(0.5, 1, 1)).isCloseTo(1e9 / 4.8e6, NEAR);
    assertThat(sets.speed(1.5, 1, 1)).isCloseTo(1e9 / 1.6e6, NEAR);
    assertThat(quotas.speed(2, 1, 1)).isCloseTo(1e9 / 1.2e6, NEAR);
  }

  /**
   * The speeds are 1100 on one core, 1000 on two and 1020 on four, each with an error of 1 %. No
   * speed may fall with more cores, so the law uses their mean for all three.
   */
  @Test
  void moreCoresNeverSlowAJob() throws Exception {
    SpeedLaw law =
        SpeedLaw.of(
            List.of(
                workers(4, 1e9 / 1020, 0), cachedAlone(2, 1e9 / 1000), cachedAlone(1, 1e9 / 1100)),
            null,
            false);

    double mean = law.speed(4, 1, 1);
    assertThat(mean).isBetween(1030.0, 1042.0);
    assertThat(law.speed(2, 1, 1)).isCloseTo(mean, NEAR);
    assertThat(law.speed(1, 1, 1)).isCloseTo(mean, NEAR);
  }

  @Test
  void aJobThatIsFasterThanTheLawIsAsFastAsMeasured() throws Exception {
    SpeedLaw law = SpeedLaw.of(List.of(workers(2, 0.9e6, 0)), null, false);

    assertThat(law.speed(2, 1, 1)).isCloseTo(1e9 / 0.9e6, NEAR);
  }

  /** With one thread the times add up: 2 ms step, 3 ms prep, 1 ms fetch. */
  @Test
  void withoutWorkersTheTimesAdd() throws Exception {
    SpeedLaw law = SpeedLaw.of(List.of(Recordings.read(Profiles::emitSerial)), 1.0, false);

    assertThat(law.speed(4, 1, 1)).isCloseTo(200, within(1e-3));
    assertThat(law.speed(4, 0, 1)).isCloseTo(1e9 / 6e6, within(1e-3));
    assertThat(law.speed(4, 0, 0.5)).isCloseTo(1e9 / 7e6, within(1e-3));
    assertThat(law.speed(0.5, 1, 1)).isCloseTo(100, within(1e-3));
  }

  /**
   * The steps run elsewhere: a batch of 32 takes 64 ms of steps and 96 ms of CPU. Half a core is 50
   * ms of each 100 ms: the first 50 ms run without a wait, and the other 46 ms take 92 ms.
   */
  @Test
  void aQuotaBelowOneCoreSlowsAThreadLessIfItAlsoWaits() throws Exception {
    SpeedLaw law = SpeedLaw.of(List.of(Recordings.read(Profiles::emitSerial)), 0.0, false);

    assertThat(law.speed(0.5, 1, 1)).isCloseTo(32 / 0.206, within(1e-3));
    // Three quarters of a core allow 75 ms without a wait; at a quarter, only the CPU time counts.
    assertThat(law.speed(0.75, 1, 1)).isCloseTo(32 / (0.064 + 0.128 - 0.025), within(1e-3));
    assertThat(law.speed(0.25, 1, 1)).isCloseTo(32 / 0.384, within(1e-3));
    assertThat(law.speed(1, 1, 1)).isCloseTo(32 / 0.160, within(1e-3));
  }

  /** On one core, a sample took 8 ms with every item in memory; a fetch adds 1 ms. */
  @Test
  void withoutWorkersFetchesAddToTheTimeOnFewerCores() throws Exception {
    JobRecording oneCore =
        Recordings.read(
            () -> {
              emitPhase("ingestion", 0, 2e6, 0, 0);
              emitPhase("cached", 0, 8e6, 0, 6e6);
              emitPhase("cold", 0, 9e6, 1e6, 6e6);
              Profiles.emitHost(1, 500_000_000L, 200_000_000L, 2e6);
            });
    SpeedLaw law = SpeedLaw.of(List.of(Recordings.read(Profiles::emitSerial), oneCore), 1.0, false);

    assertThat(law.speed(1, 1, 1)).isCloseTo(1e9 / 8e6, within(1e-3));
    assertThat(law.speed(1, 0, 1)).isCloseTo(1e9 / 9e6, within(1e-3));
  }

  @Test
  void aStepThatKeepsFourCoresBusyIsLongerOnTwo() throws Exception {
    SpeedLaw law = SpeedLaw.of(List.of(Recordings.read(Profiles::emitSerial)), 4.0, false);

    assertThat(law.speed(2, 1, 1)).isCloseTo(1e9 / (2 * 2e6 + 3e6), within(1e-3));
  }

  @Test
  void theKneeNeedsTheLeastForNearlyFullSpeed() throws Exception {
    SpeedLaw law = SpeedLaw.of(List.of(workers(8, 1e6, 0)), null, false);
    DemandTable table = law.table(1);

    assertThat(table.knee().cores()).isEqualTo(1.5);
    assertThat(table.knee().share()).isBetween(0.98, 1.0);
    assertThat(SpeedLaw.sentence(table))
        .startsWith("1.5 cores, ")
        .contains(" for items and ", "/s from storage give ", " % of the speed of 8 cores");
    int last = table.memoryGib().size() - 1;
    assertThat(table.cores()).startsWith(0.25, 0.5, 0.75, 1.0, 1.5).endsWith(6.0, 8.0);
    assertThat(table.samplesPerSecond().get(3).get(last).get(0))
        .isCloseTo(1e9 / 1.2e6, within(1e-3));
  }
}
