package io.coordl.reports.whatif;

import static io.coordl.reports.recording.Profiles.emitPhase;
import static io.coordl.reports.recording.Recordings.SECOND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.reports.differential.Differential;
import io.coordl.reports.differential.DifferentialText;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.Profiles;
import io.coordl.reports.recording.Recordings;
import io.coordl.reports.whatif.Coupling.Origins;
import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.HostEvent;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.DoublePredicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.assertj.core.data.Offset;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class WhatIfTest {
  private static final Offset<Double> NEAR = within(1e-6);
  private static final Set<String> ARGUMENTS =
      Set.of(
          "auto",
          "cache",
          "cache.size",
          "decoded",
          "decoded.size",
          "prefetch",
          "prep",
          "prep.jobs");

  static final Runnable SERIAL = Profiles::emitSerial;
  static final Runnable WORKERS = Profiles::emitWorkers;
  static final Runnable ORDINARY = WhatIfTest::emitOrdinary;
  private static final Runnable DECODED = WhatIfTest::emitDecoded;

  private static Answer answer(WhatIf whatIf, String question) {
    return whatIf.answers().stream()
        .filter(answer -> answer.question().equals(question))
        .findFirst()
        .orElseThrow();
  }

  private static Measure figure(WhatIf whatIf, String question) {
    return answer(whatIf, question).figure().measure();
  }

  /** Where a condition begins to hold, found by bisection. */
  private static double begins(double low, double high, DoublePredicate holds) {
    for (int i = 0; i < 100; i++) {
      double middle = (low + high) / 2;
      if (holds.test(middle)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  private static Costs drawn(Random random) {
    double storage = 10 + 1_000 * random.nextDouble();
    double prep = 10 + 1_000 * random.nextDouble();
    return Costs.of(
        10 + 1_000 * random.nextDouble(),
        0,
        prep,
        random.nextDouble() / 4,
        storage * (1 + 3 * random.nextDouble()),
        storage,
        storage * random.nextDouble() / 20,
        prep / 3,
        random.nextDouble());
  }

  @Test
  void theBestCacheIsTheSmallestThatIsAsGoodAsAllMemory() {
    Random random = new Random(1);
    int inside = 0;
    for (int i = 0; i < 500; i++) {
      Costs costs = drawn(random);
      Setup setup = Setup.of(1 + random.nextInt(8), 16);
      double all = costs.nanos(setup.hit(1));

      double best = BestCacheSize.bestShare(costs, setup);

      double found = begins(0, 1, x -> costs.nanos(setup.hit(x)) <= all * (1 + 1e-12));
      assertThat(best).isCloseTo(found, NEAR);
      inside += best > 0.01 && best < 0.99 ? 1 : 0;
    }
    assertThat(inside).isGreaterThan(100);
  }

  @Test
  void theBestCacheFollowsTheClosedForm() {
    // x* = (1/S - 1/R) / (1/S - 1/C), with 1/S = 10, 1/C = 1 and 1/R = 4 ns a sample.
    Costs costs = Costs.of(4, 0, 4, 0, 0, 10, 1, 0, 0);

    assertThat(BestCacheSize.bestShare(costs, Setup.of(4, 4))).isCloseTo(6 / 9.0, NEAR);
  }

  @Test
  void theNeededStorageIsTheSlowestThatKeepsUp() {
    Random random = new Random(2);
    int inside = 0;
    for (int i = 0; i < 500; i++) {
      Costs costs = drawn(random);
      Setup setup = Setup.of(1 + random.nextInt(8), 16).hit(random.nextDouble() / 2);
      double all = costs.nanos(setup.hit(1));
      double left = setup.workers * (all - costs.prepSerial()) - costs.prepParallel();
      if (left < setup.workers * all * 0.05) {
        continue; // Workers without slack: no rate is enough.
      }
      double found =
          begins(0, 1e4, factor -> costs.nanos(setup.storage(factor)) <= all * (1 + 1e-12));

      assertThat(StorageNeeded.factor(costs, setup)).isCloseTo(found, within(1e-4));
      inside++;
    }
    assertThat(inside).isGreaterThan(100);
  }

  @Test
  void withoutWorkersStorageMustLeaveLittleTimeToFetching() {
    Costs costs = Costs.of(2, 0, 3, 0, 1, 0.5, 0, 0, 0);
    Setup setup = Setup.of(0, 4).hit(0);

    double factor = StorageNeeded.factor(costs, setup);

    double nanos = costs.nanos(setup.storage(factor));
    assertThat((nanos - 5) / nanos).isCloseTo(0.05, NEAR);
  }

  @Test
  void theNeededWorkersAreTheFewestThatKeepUp() {
    Random random = new Random(3);
    for (int i = 0; i < 500; i++) {
      Costs costs = drawn(random);
      if (costs.compute() <= 1.02 * costs.prepSerial()) {
        assertThat(WorkersNeeded.workers(costs)).isGreaterThan(10);
        continue;
      }
      Setup setup = Setup.of(1, 1e9).storage(1);
      Costs unlimited =
          new Costs(
              costs.compute(),
              0,
              costs.prepSerial(),
              costs.prepParallel(),
              costs.miss(),
              0,
              0,
              0,
              costs.todayHit(),
              0);
      double found =
          begins(1, 1e6, k -> unlimited.nanos(setup.workers(k)) <= costs.compute() * (1 + 1e-12));
      assertThat(Math.max(1, WorkersNeeded.workers(costs)))
          .isCloseTo(found, Percentage.withPercentage(0.01));
    }
  }

  @Test
  void fasterStepsStopHelpingAtNearlyFullSpeed() {
    Costs costs = Costs.of(8, 0, 2, 0, 0, 0, 0, 0, 1);

    assertThat(FasterStep.sufficientFactor(costs, Setup.of(1, 4)))
        .isCloseTo(8 / (2 / 0.95), within(1e-4));
    assertThat(FasterStep.sufficientFactor(costs, Setup.of(0, 4)))
        .isCloseTo(8 / (2 / 0.95 - 2), within(1e-3));
  }

  @Test
  void hostsScaleUntilTheirStorageIsBusy() {
    Costs costs = Costs.of(4, 0, 4, 0, 0, 0.25, 0, 0, 0);

    double hosts = SeveralHosts.scalesTo(costs, Setup.of(4, 4));

    assertThat(hosts).isCloseTo(16, NEAR);
    assertThat(costs.nanos(Setup.of(4, 4).hit(0).hosts(hosts))).isCloseTo(4, NEAR);
    assertThat(costs.nanos(Setup.of(4, 4).hit(0).hosts(2 * hosts))).isCloseTo(8, NEAR);
  }

  @Test
  void severalHostsKeepEveryItemOnce() {
    assertThat(Coupling.partitioned(4, 0.2)).isEqualTo(new Origins(0.2, 3 * 0.2));
    assertThat(Coupling.partitioned(4, 0.2).storage()).isCloseTo(0.2, NEAR);
    assertThat(Coupling.partitioned(8, 0.5)).isEqualTo(new Origins(1 / 8.0, 7 / 8.0));
    assertThat(Coupling.partitioned(8, 0.5).storage()).isZero();
    assertThat(Coupling.partitioned(1, 0.3)).isEqualTo(new Origins(0.3, 0));
  }

  @Test
  void aPartitionedHostAddsTheTimesOfAllOrigins() {
    // A sample takes 10 ns of storage, 2 ns of network, 0.5 ns of memory, and nothing else.
    Costs costs = Costs.of(0, 0, 0, 0, 0, 10, 0.5, 0, 0);
    for (int n : new int[] {1, 2, 3, 8}) {
      double c = 0.2;
      Coupling coupling = new Coupling(Pipeline.of(none()), Setup.of(4, 4), n, c, 0, 2, List.of());

      double nanos = costs.nanos(coupling.setup(n, Coupling.partitioned(n, c)));

      double local = Math.min(c, 1.0 / n);
      // The local share from memory, n - 1 such shares over the network, and the rest from the
      // storage that n hosts share.
      assertThat(nanos)
          .isCloseTo(local * 0.5 + (n - 1) * local * 2 + Math.max(0, 1 - n * c) * 10 * n, NEAR);
    }
  }

  private static JobRecording none() {
    return new JobRecording(
        Path.of("none"),
        0,
        0,
        false,
        null,
        null,
        null,
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        Map.of(),
        Map.of(),
        List.of(),
        null,
        null,
        null,
        0,
        List.of(),
        List.of());
  }

  @Test
  void severalHostsAreAnsweredFromAProfileAndTheUsualNetwork() throws Exception {
    JobRecording profile = Recordings.read(WORKERS);
    WhatIf usual = WhatIf.of(profile, scenario(0.25, 4, null, null), Set.of("hosts", "locality"));
    WhatIf slow = WhatIf.of(profile, scenario(0.25, 4, 1e7, null), Set.of("hosts", "locality"));

    assertThat(answer(usual, "hosts").sentence())
        .startsWith("4 hosts, each with room for 25 % of the data set in memory, train ")
        .contains(
            "finds 25.0 % of the items in its own memory, 75.0 % in that of the others and 0.0 % in"
                + " storage");
    assertThat(answer(usual, "hosts").assumptions())
        .anyMatch(line -> line.contains("1.2 GiB/s (10 Gbit/s by default): --network"));
    assertThat(answer(slow, "hosts").assumptions()).noneMatch(line -> line.contains("--network"));
    // Two threads: 3/4 of the samples from storage at 2.8 ms; or all from memory, with 1 ms steps.
    assertThat(figure(usual, "hosts").value()).isCloseTo((1.2 + 0.75 * 2.8) / 2, within(0.01));
    // At 10 MB/s a remote sample takes 10 ms: 3/4 of the samples are remote, or 6.1 % if assigned.
    assertThat(figure(usual, "locality").value()).isCloseTo(1, within(0.001));
    double moved = Balancing.moved(4, 32, 1);
    assertThat(moved).isCloseTo(0.061, within(0.001));
    assertThat(figure(slow, "locality").value())
        .isCloseTo(0.75 * 10 / Math.max(1, (1.2 + 10 * moved) / 2), within(0.1));
    assertThat(answer(slow, "locality").sentence())
        .contains("fetch 75.0 % of the items from each other")
        .contains("with batches of 32 per host, 6.1 % would move")
        .endsWith("The agent does not do this.");
  }

  private static Scenario scenario(Double cache, Integer hosts, Double network, Double storage) {
    return new Scenario(null, cache, null, null, storage, null, hosts, network, null);
  }

  @Test
  void theRateOfPeersComesFromTheRecording() throws Exception {
    JobRecording job =
        Recordings.read(
            () -> {
              Recordings.emitPartitionedJob();
              Recordings.emitDecodedStore(0); // Not shared with other hosts.
            });
    Pipeline pipeline = Pipeline.of(job);

    // 1,200 items of 100,000 bytes in 1 ms each, from two others; 600 of 1,000 in later epochs.
    assertThat(pipeline.peers).isEqualTo(new Pipeline.Peers(3, 0.6, 1e8, 1L << 30));
    assertThat(pipeline.batchSamples).isEqualTo(32);
    // 1,000 items hold 3,200 samples.
    assertThat(pipeline.sampleBytes).isEqualTo(31_250);
    // Fetches take 3 ms on average, 0.6 of them 1 ms, so the tenth from storage takes 24 ms each.
    assertThat(pipeline.missNanos.value()).isCloseTo(24e6 / 3.2, NEAR);
    assertThat(pipeline.today().remote).isEqualTo(0.6);

    WhatIf asked = WhatIf.of(job, scenario(null, 4, null, 5e7), Set.of("hosts"));
    assertThat(answer(asked, "hosts").figure()).isNotNull();
    assertThat(answer(asked, "hosts").assumptions())
        .contains("a thread gets 95.4 MiB/s from another host, as it did in this recording");
    assertThat(answer(WhatIf.of(job), "hosts").missing())
        .extracting(Missing::figure)
        .containsExactly("storageRate");
  }

  @Test
  void aMissCostsWhatASingleThreadMeasured() throws Exception {
    JobRecording profile =
        Recordings.read(
            () -> {
              Profiles.emitWorkers();
              emitPhase("fetch", 2, 0.75e6, 1.5e6, 0);
              emitPhase("fetch", 1, 0.85e6, 0.85e6, 0);
            });

    // With two threads that wait for each other it was 2.8 ms.
    Pipeline pipeline = Pipeline.of(profile);
    assertThat(pipeline.missNanos.value()).isCloseTo(0.85e6, NEAR);
    Pipeline without = Pipeline.of(Recordings.read(WORKERS));
    assertThat(without.missNanos.value()).isCloseTo(2.8e6, NEAR);
  }

  /** Two epochs that differ by a sixth are enough for such errors. */
  @Test
  void errorsLargerThanTheFiguresStillLeaveFigures() throws Exception {
    Scenario scenario = new Scenario(null, 0.5, 8, 2.0, 5e8, 4, 4, 1e9, 0.0);
    for (Runnable events : List.of(SERIAL, WORKERS)) {
      Pipeline truth = Pipeline.of(Recordings.read(events));
      Measure memory = truth.memoryRate;
      for (Pipeline seen :
          List.of(
              seen(truth, WhatIfTest::unsure, WhatIfTest::unsure),
              seen(truth, WhatIfTest::unsure, of -> of.equals(memory) ? null : unsure(of)))) {
        for (Question question : WhatIf.QUESTIONS) {
          for (Scenario asked : List.of(Scenario.NONE, scenario)) {
            assertThat(question.concerns(seen) ? question.ask(seen, asked).figure() : "no saves")
                .as(question.name)
                .isNotNull();
          }
        }
      }
    }
  }

  /**
   * The pipeline with measurement errors.
   *
   * @param each applied to compute, prep, miss and storage, in this order
   * @param others applied to the other measures
   */
  static Pipeline seen(Pipeline truth, UnaryOperator<Measure> each, UnaryOperator<Measure> others) {
    Pipeline seen = truth.copy();
    seen.computeNanos = each.apply(truth.computeNanos);
    seen.computeCores = others.apply(truth.computeCores);
    seen.prepNanos = each.apply(truth.prepNanos);
    seen.prepSerialShare = others.apply(truth.prepSerialShare);
    seen.missNanos = each.apply(truth.missNanos);
    seen.storageRate = each.apply(truth.storageRate);
    seen.memoryRate = others.apply(truth.memoryRate);
    seen.decodeNanos = others.apply(truth.decodeNanos);
    seen.todayHit = others.apply(truth.todayHit);
    return seen;
  }

  private static Measure unsure(Measure measure) {
    return new Measure(measure.value(), 3 * Math.abs(measure.value()));
  }

  @Test
  void tooManyWorkersAndAnUnreachablePaceAreDistinguished() throws Exception {
    Pipeline slow =
        Pipeline.of(
            Recordings.read(
                () -> {
                  Profiles.emitWorkers();
                  emitPhase("fetch", 1, 100e6, 100e6, 0);
                }));
    assertThat(new WorkersNeeded().ask(slow, Scenario.NONE).sentence())
        .startsWith("more than 64 workers would be needed");
    assertThat(new WorkersNeeded().ask(serialPrep(), Scenario.NONE).sentence())
        .startsWith("no number of workers keeps up");
  }

  /** Two threads prepare no faster than one, and slower than the steps. */
  private Pipeline serialPrep() throws Exception {
    return Pipeline.of(
        Recordings.read(
            () -> {
              emitPhase("ingestion", 2, 1e6, 0, 0);
              emitPhase("cached", 2, 3e6, 0, 3e6);
              emitPhase("cold", 2, 3e6, 1e6, 3e6);
              emitPhase("prep", 1, 3e6, 0, 3e6);
              emitPhase("prep", 2, 3e6, 0, 3e6);
              Profiles.emitHost(8, 500_000_000L, 200_000_000L, 1e6);
            }));
  }

  @Test
  void storageThatCouldNotBeReadDirectlyIsReported() throws Exception {
    WhatIf direct = WhatIf.of(Recordings.read(SERIAL));
    WhatIf through =
        WhatIf.of(
            Recordings.read(
                () -> {
                  Profiles.emitSerial();
                  HostEvent host = Profiles.host(4, 500_000_000L, 200_000_000L, 2e6);
                  host.storageAccess = "tmpfs";
                  host.commit();
                }));

    assertThat(answer(through, "storage").assumptions())
        .contains(
            "storage was not read past the page cache (tmpfs): the measured rate may be that of"
                + " memory");
    assertThat(answer(direct, "storage").assumptions())
        .noneMatch(line -> line.contains("page cache ("));
  }

  @Test
  void aSerialProfileGivesDifferencesOfPhases() throws Exception {
    WhatIf whatIf = WhatIf.of(Recordings.read(SERIAL));

    Pipeline pipeline = whatIf.pipeline();
    assertThat(pipeline.prepNanos.value()).isCloseTo(3e6, NEAR);
    assertThat(pipeline.missNanos.value()).isCloseTo(1e6, NEAR);
    assertThat(pipeline.prepSerialShare.value()).isCloseTo(0, NEAR);
    // Today 2 + 3 + 1 ms, less the page cache's hits; beside the step, the longer of 2 ms and the
    // rest.
    double hit = (HitLaw.LRU.hit(0.5) + HitLaw.RANDOM.hit(0.5)) / 2;
    assertThat(figure(whatIf, "overlap").value()).isCloseTo((6 - hit) / (4 - hit), within(1e-6));
    assertThat(answer(whatIf, "overlap").arguments()).containsExactly("prefetch=2");
    assertThat(figure(whatIf, "cacheSize").value()).isEqualTo(1);
    assertThat(figure(whatIf, "gpu").value()).isCloseTo((6 - hit) / (5 - hit), within(1e-6));
    // The free memory is half of the data set; the argument is in MiB.
    assertThat(answer(whatIf, "cacheSize").arguments())
        .containsExactly("cache=minio", "cache.size=477m");
    assertThat(answer(whatIf, "cacheSize").sentence())
        .contains("the free memory (476.8 MiB) gives 182 ± 2 samples/s");
  }

  @Test
  void theGainOverThePageCacheLiesBetweenTheLaws() throws Exception {
    Answer minio = answer(WhatIf.of(Recordings.read(WORKERS)), "minio");

    // Two workers: (1.2 + 2.8 m) / 2 ms a sample.
    double mine = 1.2 + 2.8 * 0.5;
    double lru = (1.2 + 2.8 * (1 - HitLaw.LRU.hit(0.5))) / mine;
    double any = (1.2 + 2.8 * (1 - HitLaw.RANDOM.hit(0.5))) / mine;
    Measure gain = minio.figure().measure();
    assertThat(gain.value()).isCloseTo((lru + any) / 2, within(1e-6));
    assertThat(gain.error()).isGreaterThan((lru - any) / 2);
    assertThat(minio.plot().series()).hasSize(3);
  }

  @Test
  void competitionForCoresIsSeenInTheCachedPhase() throws Exception {
    Pipeline pipeline =
        Pipeline.of(
            Recordings.read(
                () -> {
                  emitPhase("ingestion", 2, 1e6, 0, 0);
                  emitPhase("cached", 2, 2.5e6, 0, 0);
                  emitPhase("cold", 2, 3e6, 1.5e6, 0);
                  emitPhase("prep", 1, 3e6, 0, 0);
                  emitPhase("prep", 2, 1.5e6, 0, 0);
                  Profiles.emitHost(2, 500_000_000L, 200_000_000L, 1e6);
                }));

    // 2.5 ms of two cores are 5 ms of work, 3 of them preparation.
    assertThat(pipeline.computeCores.value()).isCloseTo(2, within(1e-6));
    assertThat(pipeline.nanos(pipeline.today().hit(1)).value()).isCloseTo(2.5e6, NEAR);
    assertThat(pipeline.nanos(pipeline.today().hit(1).workers(8)).value()).isCloseTo(2.5e6, NEAR);
    assertThat(pipeline.withComputeCores(0.0).nanos(pipeline.today().hit(1)).value())
        .isCloseTo(1.5e6, NEAR);
  }

  @Test
  void preparationThatSaturatesIsFitted() throws Exception {
    Pipeline pipeline =
        Pipeline.of(
            Recordings.read(
                () -> {
                  emitPhase("ingestion", 1, 1e6, 0, 0);
                  emitPhase("cached", 1, 4e6, 0, 0);
                  for (int k : new int[] {1, 2, 4, 16}) {
                    // Beyond the 4 cores nothing is gained, so that point does not count.
                    emitPhase("prep", k, 1e6 + 3e6 / Math.min(k, 4), 0, 0);
                  }
                  Profiles.emitHost(4, 500_000_000L, 200_000_000L, 1e6);
                }));

    assertThat(pipeline.prepNanos.value()).isCloseTo(4e6, within(1.0));
    assertThat(pipeline.prepSerialShare.value()).isCloseTo(0.25, NEAR);
  }

  @Test
  void forADataSetLargerThanMemoryThePhaseColdShowsPreparation() throws Exception {
    WhatIf serial =
        WhatIf.of(
            Recordings.read(
                () -> {
                  emitPhase("ingestion", 0, 2e6, 0, 0);
                  emitPhase("cold", 0, 6e6, 1e6, 3e6);
                  Profiles.emitHost(8, 100_000_000L, 200_000_000L, 0.9e6);
                }));
    WhatIf workers =
        WhatIf.of(
            Recordings.read(
                () -> {
                  emitPhase("ingestion", 2, 1e6, 0, 0);
                  emitPhase("cold", 2, 2e6, 2.8e6, 1.2e6);
                  emitPhase("fetch", 1, 2.8e6, 2.8e6, 0);
                  Profiles.emitHost(8, 100_000_000L, 200_000_000L, 0.9e6);
                }));

    assertThat(serial.pipeline().prepNanos.value()).isCloseTo(3e6, NEAR);
    assertThat(serial.pipeline().missNanos.value()).isCloseTo(1e6, NEAR);
    assertThat(workers.pipeline().prepNanos.value()).isCloseTo(1.2e6, NEAR);
    assertThat(workers.pipeline().missNanos.value()).isCloseTo(2.8e6, NEAR);
    for (WhatIf whatIf : List.of(serial, workers)) {
      assertThat(answer(whatIf, "cacheSize").figure()).isNotNull();
      assertThat(answer(whatIf, "cacheSize").assumptions())
          .anyMatch(line -> line.startsWith("no phase had every item in memory, so the time of"));
    }
  }

  @Test
  void decodedItemsTakeMemoryFromThePageCache() throws Exception {
    WhatIf whatIf = WhatIf.of(Recordings.read(SERIAL));

    // All free memory holds a twelfth of the decoded items and leaves nothing to the page cache.
    double hit = (HitLaw.LRU.hit(0.5) + HitLaw.RANDOM.hit(0.5)) / 2;
    double kept = 1 / 12.0;
    assertThat(figure(whatIf, "decoded").value())
        .isCloseTo((6 - hit) / (6 - 3 * kept), within(1e-6));
    assertThat(answer(whatIf, "decoded").arguments()).isEmpty();
  }

  @Test
  void autoGainsFromItemsAndAtMostFromWholeSamples() throws Exception {
    // The step takes 2 of 6 ms, and fetching up to 1 ms. auto gets 0.25 GB: a quarter of the
    // files, which the page cache holds too, or 4 % of the decoded items.
    WhatIf profiled = WhatIf.of(Recordings.read(SERIAL));
    double page = (HitLaw.LRU.hit(0.5) + HitLaw.RANDOM.hit(0.5)) / 2;
    assertThat(figure(profiled, "auto").value())
        .isCloseTo(Math.max(1, (6 - page) / (6 - 3 / 24.0 - page * 23 / 24)), within(0.05));

    // Unknown free memory: all items decoded, which saves 2 ms of decoding and 1 ms of fetching.
    WhatIf ordinary = WhatIf.of(Recordings.read(ORDINARY));
    assertThat(figure(ordinary, "auto").value()).isCloseTo(6 / 3.0, within(1e-6));
    assertThat(answer(ordinary, "auto").sentence()).contains("at most 3.00 ", " 67 ");
    assertThat(answer(ordinary, "auto").arguments()).containsExactly("auto=on");
  }

  @Test
  void autoDoesNothingForAJobThatHardlyWaits() throws Exception {
    WhatIf quick =
        WhatIf.of(
            Recordings.read(
                () -> {
                  emitPhase("ingestion", 0, 10e6, 0, 0);
                  emitPhase("cached", 0, 10.3e6, 0, 0.3e6);
                  emitPhase("cold", 0, 10.4e6, 0.1e6, 0.3e6);
                  Profiles.emitHost(4, 500_000_000L, 200_000_000L, 0.1e6);
                }));
    assertThat(answer(quick, "auto").sentence()).startsWith("nothing: the job waits for data ");
    assertThat(figure(quick, "auto").value()).isEqualTo(1);
    assertThat(answer(quick, "auto").arguments()).isEmpty();
  }

  @Test
  void workersHeldUpByFetchingAreReported() throws Exception {
    WhatIf whatIf =
        WhatIf.of(
            Recordings.read(
                () -> {
                  Profiles.emitWorkers();
                  Profiles.emitHost(8, 1_000_000L, 20_000_000L, 0.9e6);
                }));

    // Storage takes 5 ms a sample, a step 1 ms.
    assertThat(answer(whatIf, "cores").sentence())
        .startsWith("k* = 4 workers")
        .contains("would keep up with the steps, but fetching does not;")
        .contains("the job then runs at 200 ");
  }

  @Test
  void prefetchingWithoutGainIsNotAdvised() throws Exception {
    WhatIf whatIf =
        WhatIf.of(
            Recordings.read(
                () -> {
                  emitPhase("ingestion", 0, 10e6, 0, 0);
                  emitPhase("cached", 0, 10.05e6, 0, 0.05e6);
                  emitPhase("cold", 0, 10.06e6, 0.01e6, 0.05e6);
                  emitPhase("prep", 1, 0.05e6, 0, 0.05e6);
                  Profiles.emitHost(4, 500_000_000L, 200_000_000L, 0.01e6);
                  Recordings.emitTotals(1, 100, 70 * SECOND, 40 * SECOND);
                }));

    assertThat(whatIf.pipeline().frameworks).contains("DJL");
    assertThat(figure(whatIf, "cores").value()).isLessThan(1);
    assertThat(answer(whatIf, "cores").arguments()).isEmpty();
  }

  @Test
  void withoutMeasurementsNothingIsGuessed() throws Exception {
    WhatIf whatIf =
        WhatIf.of(
            Recordings.read(
                () -> {
                  emitPhase("ingestion", 1, 1e6, 0, 0);
                  emitPhase("cached", 1, 4e6, 0, 0);
                }));

    assertThat(whatIf.answers())
        .allSatisfy(
            answer -> {
              assertThat(answer.figure()).isNull();
              assertThat(answer.plot()).isNull();
              assertThat(answer.sentence()).startsWith("no answer: ");
              assertThat(answer.missing()).extracting(Missing::figure).isNotEmpty();
              assertThat(answer.missing())
                  .allMatch(missing -> missing.reason().contains("coordl profile -- "));
            });
  }

  /** Three epochs; per item: compute 2 ms, prep 3 ms (2 ms of it decoding), fetch 1 ms. */
  private static void emitOrdinary() {
    for (int epoch = 1; epoch <= 3; epoch++) {
      var event = new EpochEvent();
      event.epoch = epoch;
      event.updates = 100;
      event.source = "ai.djl.training.dataset.DataIterable";
      event.complete = true;
      event.batches = 100;
      event.items = 1_000;
      event.storageItems = 1_000;
      event.storageBytes = 100_000_000;
      event.compute = 2 * SECOND;
      event.fetchStall = SECOND;
      event.prepStall = 3 * SECOND;
      event.stall = 4 * SECOND;
      event.wall = 6 * SECOND;
      event.fetchTime = SECOND;
      event.decodeTime = 2 * SECOND;
      event.otherTime = SECOND;
      event.commit();
    }
    Recordings.emitTotals(3, 300, 18 * SECOND, 3 * SECOND);
  }

  @Test
  void evaluationsOnTheSameClassOfDataSetDoNotCount() throws Exception {
    Pipeline pipeline =
        Pipeline.of(
            Recordings.read(
                () -> {
                  emitOrdinary();
                  for (int pass = 4; pass <= 6; pass++) {
                    var evaluation = new EpochEvent();
                    evaluation.epoch = pass;
                    evaluation.source = "ai.djl.training.dataset.DataIterable";
                    evaluation.complete = true;
                    evaluation.batches = 100;
                    evaluation.items = 1_000;
                    evaluation.compute = SECOND / 10;
                    evaluation.wall = SECOND;
                    evaluation.commit();
                  }
                }));

    assertThat(pipeline.computeNanos.value()).isCloseTo(2e6, NEAR);
    assertThat(pipeline.computeNanos.error()).isCloseTo(0.2e6, NEAR);
  }

  /** An internal name, such as {@code missNanos}, that users never see. */
  private static final Pattern INTERNAL = Pattern.compile("\\b[a-z]+(?:[A-Z][a-z]*)+\\b");

  /** Epochs of a job that keeps its items decoded, so it fetches nothing after the first one. */
  private static void emitDecoded() {
    Recordings.emitConfiguration("decoded", "share");
    for (int epoch = 1; epoch <= 4; epoch++) {
      var event = new EpochEvent();
      event.epoch = epoch;
      event.updates = 100;
      event.source = "ai.djl.training.dataset.DataIterable";
      event.complete = true;
      event.batches = 100;
      event.items = epoch == 1 ? 1_000 : 0;
      event.compute = 2 * SECOND;
      event.wall = 3 * SECOND;
      event.commit();
    }
    Recordings.emitDecodedStore(3_000);
    Recordings.emitTotals(4, 400, 12 * SECOND, 0);
  }

  @Test
  void answersAreMissingBecauseDecodedItemsAreKept() throws Exception {
    WhatIf whatIf = WhatIf.of(Recordings.read(DECODED));

    assertThat(answer(whatIf, "decoded").sentence())
        .startsWith("no answer: after the first epoch, the job fetches no items, as it keeps them")
        .contains("without decoded=share");
    List<String> lines = WhatIfText.lines(whatIf, WhatIfText.WIDTH);
    assertThat(lines)
        .filteredOn(line -> line.contains("the job fetches no items"))
        .hasSizeLessThan(5);
    assertThat(lines).noneMatch(line -> line.contains("three complete epochs"));
  }

  @Test
  void noMessageHasAnInternalName() throws Exception {
    List<JobRecording> recordings =
        List.of(
            none(),
            Recordings.read(DECODED),
            Recordings.read(ORDINARY),
            Recordings.read(() -> Recordings.emitEpoch(1, 70 * SECOND, 40 * SECOND)),
            Recordings.read(() -> emitPhase("ingestion", 1, 1e6, 0, 0)),
            Recordings.read(SERIAL),
            Recordings.read(WORKERS));
    for (JobRecording recording : recordings) {
      List<String> said = new ArrayList<>(WhatIfText.lines(WhatIf.of(recording), WhatIfText.WIDTH));
      said.addAll(
          WhatIfText.lines(
              WhatIf.of(recording, scenario(0.25, 4, 1e7, null), Set.of()), WhatIfText.WIDTH));
      said.addAll(DifferentialText.lines(Differential.of(recording)));
      // The first line is the file name.
      assertThat(said)
          .filteredOn(line -> !line.startsWith("CoorDL "))
          .allSatisfy(line -> assertThat(line).doesNotContainPattern(INTERNAL));
    }
  }

  @Test
  void aCacheWithoutGainHasNoBestSize() throws Exception {
    WhatIf whatIf =
        WhatIf.of(
            Recordings.read(
                () -> {
                  emitPhase("ingestion", 0, 10e6, 0, 0);
                  emitPhase("cached", 0, 10.05e6, 0, 0.05e6);
                  emitPhase("cold", 0, 10.06e6, 0.01e6, 0.05e6);
                  emitPhase("prep", 1, 0.05e6, 0, 0.05e6);
                  Profiles.emitHost(4, 500_000_000L, 200_000_000L, 0.01e6);
                  Recordings.emitTotals(1, 100, 70 * SECOND, 40 * SECOND);
                }));

    assertThat(answer(whatIf, "cacheSize").sentence()).startsWith("none: ");
    assertThat(answer(whatIf, "cacheSize").figure().unit()).isEqualTo("times");
    assertThat(figure(whatIf, "cacheSize").value()).isCloseTo(1, within(0.01));
    assertThat(answer(whatIf, "cacheSize").arguments()).isEmpty();
  }

  @Test
  void argumentsOfAnAnswerExtendThoseOfTheJob() throws Exception {
    WhatIf whatIf =
        WhatIf.of(
            Recordings.read(
                () -> {
                  Recordings.emitConfiguration("prefetch", "4");
                  Recordings.emitConfiguration("cache", "minio");
                  emitOrdinary();
                }));

    assertThat(answer(whatIf, "decoded").arguments())
        .containsExactly("cache=minio", "prefetch=4", "decoded=share");
  }

  @Test
  void coresGivenByTheUserNeedNoMeasurement() throws Exception {
    JobRecording ordinary = Recordings.read(ORDINARY);
    Scenario cores = new Scenario(null, null, 16, null, null, null, null, null, null);
    Scenario both = new Scenario(null, null, 16, null, null, null, null, null, 0.0);

    assertThat(answer(WhatIf.of(ordinary, cores, Set.of()), "cores").sentence())
        .contains("--compute-cores");
    // 3 ms of prep and 1 ms of fetching beside 2 ms of steps.
    assertThat(figure(WhatIf.of(ordinary, both, Set.of()), "cores").value())
        .isCloseTo(2, within(1e-6));
  }

  @Test
  void everyRecordingHasTheCoresOfItsHost() throws Exception {
    JobRecording ordinary =
        Recordings.read(
            () -> {
              ORDINARY.run();
              Recordings.emitEnvironment(1);
            });
    Scenario all = new Scenario(null, null, null, null, null, null, null, null, 1.0);
    Scenario more = new Scenario(null, null, 16, null, null, null, null, null, null);

    assertThat(answer(WhatIf.of(ordinary), "jobs").sentence())
        .startsWith("no answer: the recording does not show how many cores a step keeps busy:");
    assertThat(answer(WhatIf.of(ordinary, more, Set.of()), "cores").sentence())
        .contains("--compute-cores");
    WhatIf known = WhatIf.of(ordinary, all, Set.of());
    assertThat(answer(known, "cores").sentence()).contains("with 1 core the job then runs at ");
    assertThat(answer(known, "jobs").figure()).isNotNull();
    // Of the 6 ms, only the fetch leaves the core free.
    assertThat(figure(known, "overlap").value()).isCloseTo(6 / 5.0, within(1e-6));
  }

  @Test
  void anOrdinaryRunIsCheckedAgainstTheModel() throws Exception {
    Pipeline pipeline = WhatIf.of(Recordings.read(ORDINARY)).pipeline();

    assertThat(pipeline.checks).hasSize(1);
    assertThat(pipeline.checks.get(0).measuredNanos().value()).isCloseTo(6e6, NEAR);
    assertThat(pipeline.checks.get(0).predictedNanos().value()).isCloseTo(6e6, NEAR);
  }

  @Test
  void anOrdinaryRunAnswersSomeQuestions() throws Exception {
    WhatIf whatIf = WhatIf.of(Recordings.read(ORDINARY));

    Pipeline pipeline = whatIf.pipeline();
    assertThat(pipeline.isSerial()).isTrue();
    assertThat(pipeline.computeNanos.value()).isCloseTo(2e6, NEAR);
    assertThat(pipeline.computeNanos.error()).isCloseTo(2e5, NEAR);
    assertThat(pipeline.nanos(pipeline.today()).value()).isCloseTo(6e6, NEAR);
    assertThat(figure(whatIf, "gpu").value()).isCloseTo(6 / 5.0, NEAR);
    assertThat(answer(whatIf, "storage").missing())
        .extracting(Missing::figure)
        .containsExactly("storageRate");
    assertThat(answer(whatIf, "minio").figure()).isNull();
    assertThat(answer(whatIf, "decoded").figure().measure().value())
        .isCloseTo(6 / 3.0, within(1e-6));
  }

  /**
   * If inputs deviate by their errors, the true answer lies within the answer's error 95 % of the
   * time.
   */
  @Test
  void errorsCoverTheTruth() throws Exception {
    Pipeline truth = Pipeline.of(Recordings.read(WORKERS));
    Random random = new Random(5);
    int tried = 2_000;
    int[] held = new int[3];
    double best = truth.figure(costs -> BestCacheSize.bestShare(costs, truth.today())).value();
    double speed = truth.speed(truth.today().hit(0.6)).value();
    double gain = truth.gain(truth.today().hit(0), truth.today().hit(0.5).step(2)).value();
    for (int i = 0; i < tried; i++) {
      Pipeline seen = seen(truth, of -> drawn(random, of), UnaryOperator.identity());
      Setup today = seen.today();
      held[0] += holds(seen.figure(costs -> BestCacheSize.bestShare(costs, today)), best);
      held[1] += holds(seen.speed(today.hit(0.6)), speed);
      held[2] += holds(seen.gain(today.hit(0), today.hit(0.5).step(2)), gain);
    }
    for (int count : held) {
      assertThat((double) count / tried).isBetween(0.93, 0.99);
    }
  }

  private static Measure drawn(Random random, Measure truth) {
    double value = truth.value() + random.nextGaussian() * truth.error() / 1.96;
    return new Measure(value, truth.error());
  }

  private static int holds(Measure seen, double truth) {
    return Math.abs(seen.value() - truth) <= seen.error() ? 1 : 0;
  }

  @Test
  void noAnswerNamesAnArgumentThatDoesNotExist() throws Exception {
    for (Runnable events : List.of(SERIAL, WORKERS)) {
      Scenario scenario = new Scenario(null, 0.5, 8, 2.0, 5e8, 4, 4, 1e9, 0.0);
      WhatIf whatIf = WhatIf.of(Recordings.read(events), scenario, Set.of());
      assertThat(whatIf.answers()).hasSize(12).allMatch(answer -> answer.figure() != null);
      assertThat(whatIf.answers().stream().flatMap(answer -> answer.arguments().stream()))
          .isNotEmpty()
          .allMatch(argument -> ARGUMENTS.contains(argument.split("=", 2)[0]));
    }
  }
}
