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
  void memoryFollowsTheLawOfACacheThatNeverEvicts() throws Exception {
    SpeedLaw law = SpeedLaw.of(List.of(workers(8, 1e6, 0)), null);

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
    SpeedLaw law = SpeedLaw.of(List.of(workers(8, 1e6, 3)), null);

    // A step takes 3 ms of core time, preparation 1.2 ms.
    assertThat(law.speed(2, 1, 1)).isCloseTo(1e9 / 2.1e6, within(1e-3));
    assertThat(law.speed(8, 1, 1)).isCloseTo(1000, within(1e-3));
  }

  @Test
  void betweenMeasuredNumbersOfCoresTheLawIsScaled() throws Exception {
    SpeedLaw law =
        SpeedLaw.of(List.of(workers(8, 1e6, 0), workers(1, 1.5e6, 0), workers(2, 1.1e6, 0)), null);

    assertThat(law.measured()).extracting(SpeedLaw.Measured::cores).containsExactly(1L, 2L, 8L);
    assertThat(law.speed(1, 1, 1)).isCloseTo(1e9 / 1.5e6, NEAR);
    assertThat(law.speed(2, 1, 1)).isCloseTo(1e9 / 1.1e6, NEAR);
    // The law gives 1 ms at 5 cores; measured is 10 % more at 2 and none at 8: 5 % at 5.
    assertThat(law.speed(5, 1, 1)).isCloseTo(1e9 / 1.05e6, NEAR);
  }

  /** On one thread, 2 ms step, 3 ms prep and 1 ms fetch add up. */
  @Test
  void withoutWorkersTheTimesAdd() throws Exception {
    SpeedLaw law = SpeedLaw.of(List.of(Recordings.read(Profiles::emitSerial)), 1.0);

    assertThat(law.speed(4, 1, 1)).isCloseTo(200, within(1e-3));
    assertThat(law.speed(4, 0, 1)).isCloseTo(1e9 / 6e6, within(1e-3));
    assertThat(law.speed(4, 0, 0.5)).isCloseTo(1e9 / 7e6, within(1e-3));
    assertThat(law.speed(0.5, 1, 1)).isCloseTo(100, within(1e-3));
  }

  /** On one core, a sample takes 8 ms with every item in memory, and a fetch 1 ms more. */
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
    SpeedLaw law = SpeedLaw.of(List.of(Recordings.read(Profiles::emitSerial), oneCore), 1.0);

    assertThat(law.speed(1, 1, 1)).isCloseTo(1e9 / 8e6, within(1e-3));
    assertThat(law.speed(1, 0, 1)).isCloseTo(1e9 / 9e6, within(1e-3));
  }

  @Test
  void aStepThatKeepsFourCoresBusyTakesLongerOnTwo() throws Exception {
    SpeedLaw law = SpeedLaw.of(List.of(Recordings.read(Profiles::emitSerial)), 4.0);

    assertThat(law.speed(2, 1, 1)).isCloseTo(1e9 / (2 * 2e6 + 3e6), within(1e-3));
  }

  @Test
  void theKneeIsTheLeastThatGivesNearlyAll() throws Exception {
    SpeedLaw law = SpeedLaw.of(List.of(workers(8, 1e6, 0)), null);
    DemandTable table = law.table(1);

    assertThat(table.knee().cores()).isEqualTo(2);
    assertThat(table.knee().share()).isBetween(0.98, 1.0);
    assertThat(SpeedLaw.sentence(table))
        .startsWith("2 cores, ")
        .contains(" for items and ", "/s from storage give ", " % of the speed of 8 cores");
    int last = table.memoryGib().size() - 1;
    assertThat(table.samplesPerSecond().get(0).get(last).get(0))
        .isCloseTo(1e9 / 1.2e6, within(1e-3));
  }
}
