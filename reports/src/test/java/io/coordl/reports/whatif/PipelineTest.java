package io.coordl.reports.whatif;

import static io.coordl.reports.recording.Profiles.emitPhase;
import static io.coordl.reports.recording.Profiles.phase;
import static io.coordl.reports.recording.Recordings.SECOND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.recording.Profiles;
import io.coordl.reports.recording.Recordings;
import io.coordl.telemetry.event.EnvironmentEvent;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.GpuStatisticsEvent;
import io.coordl.telemetry.event.PhaseEvent;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The pipeline derived from a recording; each figure differs from those it could be confused with.
 */
class PipelineTest {
  private static final Offset<Double> NEAR = within(1e-6);

  private static Pipeline of(Runnable events) throws Exception {
    return Pipeline.of(
        Recordings.read(
            () -> {
              Recordings.emitLibrary();
              events.run();
            }));
  }

  private static void isCloseTo(Measure measure, double value, double error) {
    assertThat(measure.value()).isCloseTo(value, NEAR);
    assertThat(measure.error()).isCloseTo(error, NEAR);
  }

  // ---- epochs of an ordinary recording

  /** Per item: compute 2 ms; threads fetch 5 ms, decode 2 ms, transform 1 ms, other 0.5 ms. */
  private static EpochEvent epoch(int number) {
    var event = new EpochEvent();
    event.epoch = number;
    event.updates = 100;
    event.source = "ai.djl.training.dataset.DataIterable";
    event.complete = true;
    event.batches = 100;
    event.items = 1_000;
    event.memoryItems = 250;
    event.storageItems = 750;
    event.memoryBytes = 30_000_000;
    event.storageBytes = 70_000_000;
    event.compute = 2 * SECOND;
    event.stall = 4 * SECOND;
    event.wall = 6 * SECOND;
    event.fetchTime = 5 * SECOND;
    event.decodeTime = 2 * SECOND;
    event.transformTime = SECOND;
    event.otherTime = SECOND / 2;
    return event;
  }

  private static void emitThreads() {
    for (int number = 1; number <= 3; number++) {
      epoch(number).commit();
    }
    Recordings.emitTotals(3, 300, 18 * SECOND, 0);
  }

  @Test
  void aJobThatWaitsForOnlyPartOfThePreparationIsModelledWithWorkers() throws Exception {
    Pipeline pipeline = of(PipelineTest::emitThreads);

    assertThat(pipeline.workers).isEqualTo(1);
    assertThat(pipeline.isSerial()).isFalse();
    isCloseTo(pipeline.computeNanos, 2e6, 2e5);
    isCloseTo(pipeline.prepNanos, 3.5e6, 3.5e5);
    // The 5 ms per item are spent on the three quarters that come from storage.
    isCloseTo(pipeline.missNanos, 5e6 / 0.75, 5e5 / 0.75);
    isCloseTo(pipeline.decodeNanos, 2e6, 2e5);
    isCloseTo(pipeline.todayHit, 0.25, 0);
    assertThat(pipeline.sampleBytes).isCloseTo(100_000, NEAR);
    assertThat(pipeline.batchSamples).isCloseTo(10, NEAR);
    assertThat(pipeline.datasetItems).isEqualTo(1_000);
    assertThat(pipeline.datasetBytes).isEqualTo(100_000_000);
    assertThat(pipeline.frameworks).isEqualTo("DJL 0.35.1");
    assertThat(pipeline.assumptions)
        .contains(
            "threads beside the training thread prepare its batches, as it waited for only part of"
                + " their preparation",
            "there is one such thread, as 1.4 were busy on average");
  }

  @Test
  void withoutWorkersTheWaitsAreThePreparation() throws Exception {
    Pipeline pipeline =
        of(
            () -> {
              for (int number = 1; number <= 3; number++) {
                EpochEvent event = epoch(number);
                event.stall = 8 * SECOND; // Nearly all of 8.5 s of work.
                event.fetchStall = 4 * SECOND;
                event.prepStall = 2 * SECOND;
                event.gcStall = SECOND;
                event.queueStall = SECOND / 2;
                event.commit();
              }
            });

    assertThat(pipeline.workers).isZero();
    isCloseTo(pipeline.prepNanos, 3.5e6, 3.5e5);
    isCloseTo(pipeline.missNanos, 4e6 / 0.75, 4e5 / 0.75);
    assertThat(pipeline.assumptions)
        .contains(
            "the training thread prepares its batches itself, as it waited for nearly all of their"
                + " preparation");
  }

  @Test
  void aJobThatWaitsForLessThanNineTenthsOfThePreparationIsModelledWithWorkers() throws Exception {
    Pipeline pipeline =
        of(
            () -> {
              for (int number = 1; number <= 3; number++) {
                EpochEvent event = epoch(number);
                event.stall = SECOND * 15 / 2; // 88 % of 8.5 s of work.
                event.commit();
              }
            });

    assertThat(pipeline.isSerial()).isFalse();
  }

  @Test
  void aJobServedFromMemoryDoesNotShowItsStorage() throws Exception {
    Pipeline pipeline =
        of(
            () -> {
              for (int number = 1; number <= 3; number++) {
                EpochEvent event = epoch(number);
                event.memoryItems = 1_000;
                event.storageItems = 0;
                event.commit();
              }
            });

    assertThat(pipeline.missNanos).isNull();
    assertThat(pipeline.missing("missNanos")).hasSize(1);
    // Given the rate, 100,000 bytes an item at 500 MB/s take 0.2 ms.
    Pipeline known = pipeline.withStorage(5e8);
    isCloseTo(known.missNanos, 2e5, 0);
    isCloseTo(known.storageRate, 5e8, 0);
    assertThat(known.missing("missNanos", "storageRate")).isEmpty();
    assertThat(known.missing).extracting(Missing::figure).containsExactly("cores");
    assertThat(known.withStorage(1e9)).isSameAs(known);
  }

  /** Emits 100 steps of 32 samples and 40 ms each, a quarter of that waiting. */
  private static void emitSteps(EpochEvent epoch, long items) {
    double[] nanos = new double[100];
    Arrays.fill(nanos, 40e6);
    Recordings.emitSteps(epoch.epoch, nanos);
    epoch.samples = 3_200;
    epoch.items = items;
    epoch.memoryItems = items / 4;
    epoch.storageItems = items - items / 4;
    epoch.commit();
  }

  @Test
  void oneEpochIsEnoughIfItsStepsAreRecorded() throws Exception {
    Pipeline pipeline = of(() -> emitSteps(epoch(1), 1_000));

    // A step of 32 samples: 30 ms of compute, in parallel with 5 ms of decoding and 2.5 ms of other
    // preparation.
    isCloseTo(pipeline.computeNanos, 30e6 / 32, 3e6 / 32);
    isCloseTo(pipeline.decodeNanos, 5e6 / 32, 5e5 / 32);
    assertThat(pipeline.batchSamples).isEqualTo(32);
    assertThat(pipeline.sampleBytes).isCloseTo(1e8 / 3_200, NEAR);
    assertThat(pipeline.datasetItems).isEqualTo(1_000);
    assertThat(pipeline.assumptions)
        .contains(
            "the steps after warm-up show the time of each stage to within 10 % or their spread,"
                + " whichever is larger");
    assertThat(pipeline.checks)
        .extracting(Pipeline.Check::phase)
        .containsExactly("steps after warm-up");
  }

  /** One file of 3,200 rows, read once. */
  @Test
  void aFileOfManySamplesIsNotOneSample() throws Exception {
    Pipeline pipeline =
        of(
            () -> {
              emitSteps(epoch(1), 1);
              emitSteps(epoch(2), 0);
              emitSteps(epoch(3), 0);
            });

    assertThat(pipeline.nanos(pipeline.today()).value()).isCloseTo(40e6 / 32, within(1e5));
    isCloseTo(pipeline.missNanos, 0, 0);
    assertThat(pipeline.missing).extracting(Missing::figure).doesNotContain("computeNanos");
    assertThat(pipeline.missing("sampleBytes"))
        .singleElement()
        .extracting(Missing::reason)
        .asString()
        .contains("reads its files in the first epoch only and then keeps their content itself");
  }

  /** One file of 3,200 rows, read in each epoch. */
  @Test
  void aFileReadInEachEpochIsManySamplesToo() throws Exception {
    Pipeline pipeline =
        of(
            () -> {
              for (int number = 1; number <= 3; number++) {
                emitSteps(epoch(number), 1);
              }
            });

    assertThat(pipeline.nanos(pipeline.today()).value()).isCloseTo(40e6 / 32, within(1e5));
    assertThat(pipeline.datasetItems).isEqualTo(1);
  }

  @Test
  void theReasonForMissingStagesIsGiven() throws Exception {
    Runnable nothingFetched =
        () -> {
          for (int number = 1; number <= 3; number++) {
            EpochEvent event = epoch(number);
            event.items = 0;
            event.commit();
          }
          Recordings.emitStore(1_000, 1_000); // Of raw items, not of decoded ones.
        };
    Runnable oneEpoch = () -> epoch(1).commit();

    assertThat(of(nothingFetched).missing("computeNanos"))
        .singleElement()
        .extracting(Missing::reason)
        .asString()
        .contains("the job fetches no items that the agent knows: say which files");
    assertThat(of(oneEpoch).missing("computeNanos"))
        .singleElement()
        .extracting(Missing::reason)
        .asString()
        .contains(
            "10 steps after warm-up, or three complete epochs: let the job train longer, or ");
  }

  /** Preparation on its own thread, which takes 20 of 100 s from the steps on two cores. */
  private static EpochEvent overlapping(int number) {
    EpochEvent event = epoch(number);
    event.wall = 100 * SECOND;
    event.compute = 100 * SECOND;
    event.stall = 0;
    event.items = 0;
    event.memoryItems = 0;
    event.storageItems = 0;
    event.memoryBytes = 0;
    event.storageBytes = 0;
    event.samples = 1_000;
    event.fetchTime = 0;
    event.decodeTime = 60 * SECOND;
    event.transformTime = 0;
    event.otherTime = 0;
    event.prepCoreWait = 20 * SECOND;
    event.cpu = 200 * SECOND;
    event.coreWait = 60 * SECOND;
    event.computeCoreWait = 20 * SECOND;
    return event;
  }

  @Test
  void stepsGetBackTheTimeThatPreparationTookFromThem() throws Exception {
    Pipeline pipeline =
        of(
            () -> {
              for (int number = 1; number <= 3; number++) {
                overlapping(number).commit();
              }
              Recordings.emitEnvironment(2);
            });

    // Alone, the steps of an epoch take 80 s and keep both cores busy.
    assertThat(pipeline.computeNanos.value()).isCloseTo(80e6, within(1e3));
    assertThat(pipeline.computeCores.value()).isCloseTo(2, within(1e-6));
    Setup today = pipeline.today();
    assertThat(pipeline.nanos(today).value()).isCloseTo(100e6, within(1e3));
    Measure gain = pipeline.gain(today, today.prepared(1));
    assertThat(gain.value()).isCloseTo(1.25, within(1e-3));
    assertThat(gain.low()).isGreaterThan(1);
    assertThat(pipeline.gain(today, today.decoded(0.5)).value())
        .isCloseTo(100 / 90.0, within(1e-3));
    assertThat(pipeline.assumptions)
        .anyMatch(
            line -> line.startsWith("cores are short: preparation beside the steps takes 20"));
  }

  @Test
  void withFreeCoresPreparationTakesNothingFromSteps() throws Exception {
    Pipeline pipeline =
        of(
            () -> {
              for (int number = 1; number <= 3; number++) {
                EpochEvent event = overlapping(number);
                event.prepCoreWait = 0;
                event.coreWait = SECOND / 100;
                event.computeCoreWait = 0;
                event.commit();
              }
              Recordings.emitEnvironment(16);
            });

    Setup today = pipeline.today();
    assertThat(pipeline.gain(today, today.prepared(1)).value()).isCloseTo(1, within(1e-3));
    assertThat(pipeline.assumptions).noneMatch(line -> line.contains("cores are short"));
  }

  // ---- phases of a profile

  @Test
  void withoutThePhasePrepTheCachedPhaseShowsPreparation() throws Exception {
    Pipeline pipeline =
        of(
            () -> {
              emitPhase("ingestion", 2, 1e6, 0, 0);
              emitPhase("cached", 2, 1.5e6, 0.4e6, 2e6);
              emitPhase("cold", 2, 2e6, 1.4e6, 2.2e6);
              Profiles.emitHost(8, 500_000_000L, 200_000_000L, 1e6);
            });

    isCloseTo(pipeline.prepNanos, 2.4e6, 2.4e4);
    assertThat(pipeline.prepSerialShare).isNull();
    // The threads' fetch time, less that of the cached phase.
    isCloseTo(pipeline.missNanos, 1e6, Math.hypot(1.4e4, 0.4e4));
    isCloseTo(pipeline.storageRate, 2e8, 2e6);
    assertThat(pipeline.assumptions)
        .anyMatch(line -> line.startsWith("preparation was not measured with several numbers"));
  }

  @Test
  void theCpuTimeOfIngestionShowsTheCoresOfAStep() throws Exception {
    Pipeline pipeline =
        of(
            () -> {
              PhaseEvent ingestion = phase("ingestion", 2, 1e6, 0, 0);
              ingestion.cpu = 3 * ingestion.wall;
              ingestion.commit();
              emitPhase("cached", 2, 1.5e6, 0, 2e6);
              Profiles.emitHost(8, 500_000_000L, 200_000_000L, 1e6);
            });

    isCloseTo(pipeline.computeCores, 3, 0.3);
  }

  /** With samples of the device in the recording, no option is needed. */
  @ParameterizedTest
  @CsvSource({"1000,400,0", "1000,0,-1", "0,400,-1", "-1,400,-1"})
  void aStepOnADeviceLeavesTheCores(long ownMemory, long busy, double cores) throws Exception {
    Runnable gpu =
        () -> {
          GpuStatisticsEvent device = new GpuStatisticsEvent();
          device.name = "Fake GPU";
          device.samples = 10;
          device.sampled = 1000;
          device.busy = busy;
          device.ownMemory = ownMemory;
          device.commit();
        };
    Pipeline observed =
        of(
            () -> {
              emitThreads();
              EnvironmentEvent host = new EnvironmentEvent();
              host.cores = 8;
              host.commit();
              gpu.run();
            });
    Pipeline profiled =
        of(
            () -> {
              emitPhase("ingestion", 0, 1e6, 0, 0);
              emitPhase("cached", 0, 1.5e6, 0, 2e6);
              Profiles.emitHost(8, 500_000_000L, 200_000_000L, 1e6);
              gpu.run();
            });
    if (cores == 0) {
      for (Pipeline pipeline : List.of(observed, profiled)) {
        isCloseTo(pipeline.computeCores, 0, 0);
        assertThat(pipeline.missing("cores")).isEmpty();
        assertThat(pipeline.assumptions).anyMatch(line -> line.startsWith("a step runs on GPU 0"));
      }
    } else {
      assertThat(observed.missing("cores")).isNotEmpty();
      isCloseTo(profiled.computeCores, 4, 4);
    }
  }

  @Test
  void theProgramsOwnBatchesAreNotPrefetched() throws Exception {
    assertThat(of(PipelineTest::emitThreads).canBePrefetched).isTrue();
    assertThat(
            of(() -> {
                  EpochEvent own = epoch(1);
                  own.source = "my.Job$Batches";
                  own.commit();
                })
                .canBePrefetched)
        .isFalse();
  }

  @Test
  void competitionForCoresIsOnlySeenBeyondThePreparationTime() throws Exception {
    Runnable explained =
        () -> {
          emitPhase("ingestion", 2, 1e6, 0, 0);
          emitPhase("cached", 2, 1.5e6, 0, 3e6); // Two threads, 3 ms between them.
          Profiles.emitHost(2, 500_000_000L, 200_000_000L, 1e6);
        };
    Runnable more =
        () -> {
          emitPhase("ingestion", 2, 1e6, 0, 0);
          emitPhase("cached", 2, 2e6, 0, 3e6);
          Profiles.emitHost(2, 500_000_000L, 200_000_000L, 1e6);
        };

    isCloseTo(of(explained).computeCores, 0, 0);
    // 2 ms of both cores are 4 ms of work, 3 of them preparation.
    assertThat(of(more).computeCores.value()).isCloseTo(1, NEAR);
    assertThat(of(more).assumptions).anyMatch(line -> line.contains("compete for the 2 cores"));
    assertThat(of(explained).assumptions).anyMatch(line -> line.contains("no competition"));
  }

  @Test
  void aSampleMayConsistOfSeveralItems() throws Exception {
    Pipeline whole = of(() -> emitCold(3.02));
    Pipeline mean = of(() -> emitCold(2.5));

    // About three; each item has 100,000 bytes and takes 2 ms to decode.
    assertThat(whole.sampleBytes).isCloseTo(300_000, NEAR);
    isCloseTo(whole.decodeNanos, 6e6, 0);
    assertThat(mean.sampleBytes).isCloseTo(250_000, NEAR);
    isCloseTo(mean.decodeNanos, 5e6, 0);
    assertThat(mean.batchSamples).isCloseTo(Profiles.BATCH, NEAR);
  }

  private static void emitCold(double itemsPerSample) {
    emitPhase("ingestion", 0, 2e6, 0, 0);
    PhaseEvent cold = phase("cold", 0, 6e6, 1e6, 3e6);
    cold.items = Math.round(cold.samples * itemsPerSample);
    cold.commit();
    Profiles.emitHost(4, 500_000_000L, 200_000_000L, 2e6);
  }

  @Test
  void theModelIsCheckedAgainstPhasesItWasNotDerivedFrom() throws Exception {
    Pipeline pipeline = of(WhatIfTest.WORKERS);

    assertThat(pipeline.checks).extracting(Pipeline.Check::phase).containsExactly("cached", "cold");
    Pipeline.Check cached = pipeline.checks.get(0);
    assertThat(cached.measuredNanos().value()).isCloseTo(1e6, NEAR);
    assertThat(cached.predictedNanos()).isEqualTo(pipeline.nanos(pipeline.today().hit(1)));
    Pipeline.Check cold = pipeline.checks.get(1);
    assertThat(cold.measuredNanos().value()).isCloseTo(2e6, NEAR);
    assertThat(cold.predictedNanos()).isEqualTo(pipeline.nanos(pipeline.today().hit(0)));
    assertThat(of(() -> emitPhase("cached", 2, 1e6, 0, 1e6)).checks).isEmpty();
  }

  @Test
  void aProfileWithoutItsHostLacksTheHostsFigures() throws Exception {
    Pipeline pipeline =
        of(
            () -> {
              emitPhase("ingestion", 0, 2e6, 0, 0);
              emitPhase("cached", 0, 5e6, 0, 3e6);
              emitPhase("cold", 0, 6e6, 1e6, 3e6);
            });

    assertThat(pipeline.missing)
        .extracting(Missing::figure)
        .containsExactly("storageRate", "decodeNanos", "todayHit", "sampleBytes", "cores");
    isCloseTo(pipeline.prepNanos, 3e6, Math.hypot(5e4, 2e4));
    isCloseTo(pipeline.missNanos, 1e6, Math.hypot(6e4, 5e4));
    assertThat(pipeline.computeCores).isNull();
    assertThat(pipeline.sampleBytes).isZero();
    assertThat(pipeline.today().cores).isInfinite();
  }

  @Test
  void freeMemoryThatHoldsTheDataSetAnswersAllFetches() throws Exception {
    Runnable ample = () -> emitSerialWithFree(1_000_000_000L); // Just the data set.
    Runnable none = () -> emitSerialWithFree(0);

    isCloseTo(of(ample).todayHit, 1, 0);
    assertThat(of(ample).assumptions)
        .anyMatch(line -> line.startsWith("the free memory holds the data set"));
    assertThat(of(none).todayHit).isNull();
    assertThat(of(WhatIfTest.SERIAL).assumptions)
        .anyMatch(line -> line.startsWith("the page cache has the free memory"));
  }

  private static void emitSerialWithFree(long bytes) {
    emitPhase("ingestion", 0, 2e6, 0, 0);
    emitPhase("cached", 0, 5e6, 0, 3e6);
    Profiles.emitHost(4, bytes, 200_000_000L, 2e6);
  }

  // ---- the law of preparation

  @Test
  void withOneNumberOfThreadsPreparationIsAssumedToScale() throws Exception {
    Runnable four =
        () -> {
          emitPhase("ingestion", 4, 1e6, 0, 0);
          emitPhase("prep", 4, 0.5e6, 0, 0);
          Profiles.emitHost(4, 500_000_000L, 200_000_000L, 1e6);
        };

    isCloseTo(of(four).prepNanos, 2e6, 2e4);
    isCloseTo(of(four).prepSerialShare, 0, 0);
  }

  @Test
  void deviationsFromTheLawAreItsError() throws Exception {
    Pipeline pipeline =
        of(
            () -> {
              emitPhase("ingestion", 4, 1e6, 0, 0);
              emitPhase("prep", 1, 4e6, 0, 0);
              emitPhase("prep", 2, 2.6e6, 0, 0); // The law through its neighbours gives 2 ms.
              emitPhase("prep", 4, 1e6, 0, 0);
              Profiles.emitHost(4, 500_000_000L, 200_000_000L, 1e6);
            });
    // Slope only, weighted by 1 / t^2: sum of x / t over sum of (x / t)^2.
    double xy = 1 / 4.0 + 0.5 / 2.6 + 0.25;
    double xx = 1 / 16.0 + 0.25 / 2.6 / 2.6 + 0.0625;

    assertThat(pipeline.prepNanos.value()).isCloseTo(xy / xx * 1e6, within(1.0));
    assertThat(pipeline.prepNanos.error() / pipeline.prepNanos.value())
        .isCloseTo(0.178, within(0.001));
  }

  @Test
  void preparationThatThreadsSlowDownIsSerial() throws Exception {
    Pipeline pipeline =
        of(
            () -> {
              emitPhase("ingestion", 2, 1e6, 0, 0);
              emitPhase("prep", 1, 2e6, 0, 0);
              emitPhase("prep", 2, 4e6, 0, 0);
              Profiles.emitHost(2, 500_000_000L, 200_000_000L, 1e6);
            });

    // The mean, weighted by 1 / t^2.
    double mean = (1 / 2.0 + 1 / 4.0) / (1 / 4.0 + 1 / 16.0) * 1e6;
    assertThat(pipeline.prepNanos.value()).isCloseTo(mean, within(1.0));
    assertThat(pipeline.prepSerialShare.value()).isEqualTo(1);
  }
}
