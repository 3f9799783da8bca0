package io.coordl.telemetry.advice;

import static io.coordl.telemetry.advice.FakeEvidence.SECOND;
import static io.coordl.telemetry.advice.FakeEvidence.decoded;
import static io.coordl.telemetry.advice.FakeEvidence.epoch;
import static io.coordl.telemetry.advice.FakeEvidence.epochs;
import static io.coordl.telemetry.advice.FakeEvidence.evidence;
import static io.coordl.telemetry.advice.FakeEvidence.figures;
import static io.coordl.telemetry.advice.FakeEvidence.only;
import static io.coordl.telemetry.advice.FakeEvidence.overlapping;
import static io.coordl.telemetry.advice.FakeEvidence.prepared;
import static io.coordl.telemetry.advice.FakeEvidence.refused;
import static io.coordl.telemetry.advice.FakeEvidence.store;
import static io.coordl.telemetry.advice.FakeEvidence.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import io.coordl.telemetry.event.VerdictEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AdviceTest {
  private static final Set<String> ARGUMENTS =
      Set.of(
          "checkpoint",
          "record",
          "summary",
          "dataset",
          "cache",
          "cache.size",
          "cache.scope",
          "prefetch",
          "prep",
          "resume",
          "decoded",
          "decoded.size",
          "prepared",
          "prepared.size",
          "group",
          "enabled");

  private final List<Advice> given = new ArrayList<>();

  private Advice on(Evidence evidence) {
    Advice advice = Advice.on(evidence);
    given.add(advice);
    return advice;
  }

  private Advice advice(
      Figures totals, List<EpochEvent> epochs, List<StoreStatisticsEvent> stores, String cache) {
    return on(
        evidence(
            totals,
            epochs(
                epochs.stream()
                    .map(figures -> epoch(1, "my.Images", figures))
                    .toArray(EpochEvent[]::new)),
            stores,
            cache.equals("off") ? Map.of() : Map.of("cache", cache),
            "DJL",
            1));
  }

  private Advice ofOneEpoch(
      EpochEvent figures, List<StoreStatisticsEvent> stores, Map<String, String> configuration) {
    return on(evidence(figures, only(figures), stores, configuration, "", 1));
  }

  @AfterEach
  void noAdviceNamesAnArgumentThatDoesNotExist() {
    assertThat(given).isNotEmpty();
    Pattern argument = Pattern.compile("([a-z]+(?:\\.[a-z]+)?)=");
    for (Advice advice : given) {
      String sentence = advice.sentence().replace("-javaagent:coordl-agent.jar=", "");
      assertThat(argument.matcher(sentence).results().map(found -> found.group(1)).toList())
          .isSubsetOf(ARGUMENTS);
      assertThat(advice.arguments())
          .allSatisfy(
              text -> {
                assertThat(text.substring(0, text.indexOf('='))).isIn(ARGUMENTS);
                assertThat(advice.sentence()).contains(text);
              });
      assertThat(advice.sentence()).endsWith(".").doesNotContain("\n");
    }
  }

  @Test
  void aJobThatWaitsForStorageIsAdvisedToCache() {
    EpochEvent figures = figures(40, 10, 0, 0, 0);
    Advice advice = advice(figures, List.of(figures), List.of(), "off");
    assertThat(advice.finding()).isEqualTo("fetchBound");
    assertThat(advice.arguments()).containsExactly("cache=minio");
    assertThat(advice.sentence()).contains("40.00 s", "3.0 GiB");
  }

  @Test
  void aProfiledJobGetsNoAdvice() {
    EpochEvent figures = figures(40, 10, 0, 0, 0);
    Advice advice = ofOneEpoch(figures, List.of(), Map.of("profile", "all"));
    assertThat(advice.finding()).isEqualTo("profiled");
    assertThat(advice.arguments()).isEmpty();
  }

  @Test
  void aLargerSizeIsAdvisedForAFullCache() {
    EpochEvent figures = figures(40, 10, 0, 0, 0);
    Advice advice = advice(figures, List.of(figures, figures), List.of(store(true)), "minio");
    assertThat(advice.finding()).isEqualTo("cacheTooSmall");
    assertThat(advice.arguments()).containsExactly("cache=minio", "cache.size=4g");
  }

  @Test
  void aJobWithAnUnusedCacheIsAdvisedToNameTheDataSet() {
    EpochEvent figures = figures(40, 10, 0, 0, 0);
    Advice advice = advice(figures, List.of(figures, figures), List.of(store(false)), "minio");
    assertThat(advice.finding()).isEqualTo("cacheNotAsked");
    assertThat(advice.arguments()).isEmpty(); // The data set's path is unknown.
    assertThat(advice.sentence()).contains("dataset=PATH");
  }

  @Test
  void aJobWhoseCacheHasFewHitsIsToldThatFilesChange() {
    EpochEvent figures = figures(40, 10, 0, 0, 0);
    StoreStatisticsEvent vain = store(false);
    vain.admitted = 4_000;
    vain.hits = 10;
    Advice advice = advice(figures, List.of(figures, figures), List.of(vain), "minio");
    assertThat(advice.finding()).isEqualTo("filesChange");
    assertThat(advice.sentence())
        .contains("another modification time or inode")
        .doesNotContain("dataset=");
  }

  @Test
  void hostsThatShareTheDataSetAreAdvisedTheirShareOfTheMissingSize() {
    EpochEvent figures = figures(40, 10, 0, 0, 0);
    Advice advice =
        on(
            evidence(
                figures,
                epochs(epoch(1, "my.Images", figures), epoch(1, "my.Images", figures)),
                List.of(store(true)),
                Map.of("cache", "minio"),
                "",
                3));
    // A third of 3 GiB plus 10 %.
    assertThat(advice.arguments()).containsExactly("cache=minio", "cache.size=2g");
    assertThat(advice.sentence())
        .contains(
            "cache on each of the 3 hosts", "or add a host, with", "cache=minio,cache.size=2g:");
  }

  @Test
  void aFilledCacheIsLeftAlone() {
    EpochEvent cold = figures(40, 10, 0, 0, 0);
    assertThat(advice(cold, List.of(cold, figures(1, 3, 0, 0, 0)), List.of(store(false)), "minio"))
        .extracting(Advice::finding)
        .isEqualTo("cacheFilled");
    assertThat(advice(cold, List.of(cold), List.of(store(false)), "minio").sentence())
        .startsWith("let the job continue");
  }

  @Test
  void adviceKeepsThePoliciesInUse() {
    Advice advice =
        stillWaits("DJL", Map.of("decoded", "share", "dataset", "/a, /b", "cache", "minio"));
    assertThat(advice.arguments())
        .containsExactly(
            "cache=minio", "dataset=/a", "dataset=/b", "decoded=share", "prepared=share");
    assertThat(advice.sentence())
        .contains(
            "-javaagent:coordl-agent.jar=cache=minio,dataset=/a,dataset=/b,decoded=share,prepared=share");
  }

  @Test
  void waitsOnlyInTheFirstEpochAreIgnored() {
    EpochEvent cold = figures(40, 10, 0, 0, 0);
    EpochEvent warm = figures(1, 1, 0, 0, 0);
    Advice advice = advice(cold, List.of(cold, warm, warm), List.of(), "off");
    assertThat(advice).extracting(Advice::finding).isEqualTo("computeBound");
    assertThat(advice.sentence())
        .startsWith(
            "compute-bound, nothing to do: waiting for data takes 2.0 % of the time from the second"
                + " epoch on");
    assertThat(advice.arguments()).isEmpty();
  }

  @Test
  void smallWaitsWithManyCausesAreListed() {
    EpochEvent each = figures(3, 3, 2, 1, 0);
    Advice advice = advice(each, List.of(each, each), List.of(store(false)), "minio");
    assertThat(advice.finding()).isEqualTo("computeBound");
    assertThat(advice.sentence())
        .startsWith(
            "mostly compute-bound: waiting for data takes 9.0 % of the time from the second")
        .endsWith("(fetch 3.0 %, prep 3.0 %, GC 2.0 %, queueing 1.0 %).");
    assertThat(advice.arguments()).isEmpty();
  }

  @Test
  void aSingleEpochIsJudgedAndNamedAsSuch() {
    EpochEvent figures = figures(40, 10, 0, 0, 0);
    assertThat(advice(figures, List.of(figures), List.of(), "off").sentence())
        .contains("40.00 s in the only epoch were spent waiting for storage");
  }

  @Test
  void waitsInEvaluationsAreIgnored() {
    EpochEvent quick = figures(1, 1, 0, 0, 0);
    EpochEvent slow = figures(40, 40, 0, 0, 0);
    Advice advice =
        on(
            evidence(
                EpochEvent.sum(Stream.of(quick, quick, slow, slow)),
                epochs(
                    epoch(1, "my.Images", quick),
                    epoch(0, "my.Images", slow),
                    epoch(1, "my.Images", quick),
                    epoch(0, "my.Images", slow)),
                List.of(),
                Map.of(),
                "DJL",
                1));
    assertThat(advice).extracting(Advice::finding).isEqualTo("computeBound");
  }

  @Test
  void withoutUpdatesTheFirstEpochOfEachDataSetIsExcluded() {
    EpochEvent cold = figures(40, 10, 0, 0, 0);
    EpochEvent warm = figures(30, 1, 0, 0, 0);
    Advice advice =
        on(
            evidence(
                cold,
                epochs(epoch(0, "my.A", cold), epoch(0, "my.B", cold), epoch(0, "my.A", warm)),
                List.of(),
                Map.of(),
                "DJL",
                1));
    assertThat(advice.sentence())
        .contains("30.00 s from the second epoch on were spent waiting for storage");
  }

  @Test
  void theFirstValidationEpochIsNotASecondEpoch() {
    EpochEvent cold = figures(40, 10, 0, 0, 0);
    Advice advice =
        on(
            evidence(
                cold,
                epochs(epoch(1, "my.Training", cold), epoch(1, "my.Validation", cold)),
                List.of(store(true)),
                Map.of("cache", "minio"),
                "",
                1));
    assertThat(advice).extracting(Advice::finding).isEqualTo("cacheFilled");
  }

  @Test
  void aJobThatWaitsForDecodingIsAdvisedToKeepDecodedImages() {
    EpochEvent figures = figures(10, 40, 0, 0, 0);
    Advice advice = advice(figures, List.of(figures), List.of(), "off");
    assertThat(advice.finding()).isEqualTo("prepBound");
    assertThat(advice.arguments()).containsExactly("decoded=share");
    assertThat(advice.sentence())
        .contains("40.00 s", "(on all threads: decode 40.00 s,", "will not help here");
  }

  @Test
  void aLargerSizeIsAdvisedForAFullDecodedStore() {
    EpochEvent figures = figures(10, 40, 0, 0, 0);
    Advice advice = advice(figures, List.of(figures), List.of(decoded(true)), "off");
    assertThat(advice.arguments()).containsExactly("decoded.size=2g");
  }

  @Test
  void keptSamplesWithoutHitsDoNotReplaceDecodedImages() {
    EpochEvent figures = figures(5, 40, 0, 0, 0);
    StoreStatisticsEvent samples = prepared(false);
    Map<String, String> given = Map.of("prepared", "share");
    Epochs two = epochs(epoch(1, "a", figures), epoch(1, "a", figures));
    Evidence evidence = evidence(figures, two, List.of(samples), given, "DL4J", 1);
    assertThat(on(evidence).arguments()).containsExactly("prepared=share", "decoded=share");
    assertThat(ofOneEpoch(figures, List.of(samples), given).arguments())
        .as("hits may still come")
        .isEmpty();
    samples.hits = 1;
    assertThat(on(evidence).arguments()).isEmpty();
  }

  /** Advice for a DJL job that prepares for 80 s, trains for 15 s and decodes nothing. */
  private Advice ofTables(List<StoreStatisticsEvent> stores, Map<String, String> configuration) {
    return ofTables(stores, configuration, "DJL");
  }

  private Advice ofTables(
      List<StoreStatisticsEvent> stores, Map<String, String> configuration, String framework) {
    EpochEvent figures = figures(5, 80, 0, 0, 0);
    figures.otherTime = figures.decodeTime;
    figures.decodeTime = 0;
    return on(evidence(figures, only(figures), stores, configuration, framework, 1));
  }

  @Test
  void nothingIsAdvisedThatTheJobsLibrariesDoNotSupport() {
    Advice advice = ofTables(List.of(), Map.of(), "declared loop");
    assertThat(advice.arguments()).isEmpty();
    assertThat(advice.sentence()).startsWith("make preparation cheaper: ");
    assertThat(ofTables(List.of(), Map.of("prepared", "share"), "declared loop").arguments())
        .doesNotContain("prep=coordinate", "prefetch=2");
  }

  @Test
  void preparationThatPrefetchingCannotHideIsAdvisedToBeKept() {
    assertThat(ofTables(List.of(), Map.of(), "DL4J").arguments()).containsExactly("prepared=share");

    assertThat(ofTables(List.of(), Map.of()).arguments()).containsExactly("prepared=share");
    assertThat(ofTables(List.of(prepared(false)), Map.of("prepared", "share")).arguments())
        .containsExactly("prepared=share", "prefetch=2");
    assertThat(ofTables(List.of(prepared(true)), Map.of("prepared", "share")).arguments())
        .containsExactly("prepared=share", "prepared.size=2g");
  }

  @Test
  void theAdvisedSizeExceedsThatOfTheFullCache() {
    EpochEvent figures = figures(40, 10, 0, 0, 0);
    StoreStatisticsEvent full = store(true);
    full.capacity = 8L << 30;
    Advice advice = advice(figures, List.of(figures, figures), List.of(full), "minio");
    assertThat(advice.arguments()).containsExactly("cache=minio", "cache.size=12g");
  }

  /** Advice for a job that waits for preparation although decoded images are kept. */
  private Advice stillWaits(String frameworks, Map<String, String> configuration) {
    Advice advice = on(waiting(frameworks, configuration));
    assertThat(advice.finding()).isEqualTo("prepBound");
    return advice;
  }

  /** A job that waits for preparation although decoded images are kept. */
  private static Evidence waiting(String frameworks, Map<String, String> configuration) {
    EpochEvent figures = figures(10, 40, 0, 0, 0);
    return evidence(figures, only(figures), List.of(decoded(false)), configuration, frameworks, 1);
  }

  private static final VerdictEvent NOT_PREPARED =
      refused("prepared=share", "my.Crop draws random numbers", "");

  private static final VerdictEvent NOT_PROVEN =
      refused("prepared=share", "my.Crop.count may be set by other code", "prepared=share:my.Crop");

  /** {@code prepared=check} caches nothing, so every remedy can still be advised. */
  @Test
  void aCheckIsNoCache() {
    assertThat(on(waiting("DJL", Map.of("prepared", "check"))).arguments())
        .containsExactly("prepared=share");
  }

  /** Prefetching only hides the work; policies that remove it come first. */
  @Test
  void keepingSamplesIsAdvisedBeforePrefetching() {
    assertThat(on(waiting("DJL", Map.of())).arguments()).containsExactly("prepared=share");
    assertThat(on(with(waiting("DJL", Map.of()), 4, NOT_PREPARED)).arguments())
        .containsExactly("prefetch=2");
  }

  @Test
  void refusedPoliciesAreNotAdvisedButExplainedIfNothingElseIsLeft() {
    Advice nothingLeft = on(with(waiting("DJL", Map.of("prefetch", "2")), 4, NOT_PREPARED));
    assertThat(nothingLeft.arguments()).isEmpty();
    assertThat(nothingLeft.sentence())
        .startsWith("make preparation cheaper (")
        .contains("prepared=share does not work here: my.Crop draws random numbers)");
  }

  /** What the agent cannot prove, the user may know. */
  @Test
  void aClassThatMayBeDeclaredIsNamed() {
    Advice declare = on(with(waiting("DJL", Map.of("prefetch", "2")), 4, NOT_PROVEN));
    assertThat(declare.arguments()).containsExactly("prefetch=2", "prepared=share:my.Crop");
    assertThat(declare.sentence())
        .startsWith("declare that samples of my.Crop are the same in each epoch, if they are (")
        .contains("prepared=check tests that; the proof fails: my.Crop.count may be set by");
  }

  /** A data set that is only evaluated says nothing about the one that the steps wait for. */
  @Test
  void theVerdictOfTheJudgedDataSetCounts() {
    VerdictEvent other = refused("prepared=share", "", "");
    other.source = "my.Other";
    other.allowed = true;
    Evidence waiting = waiting("DJL", Map.of("prefetch", "2"));
    assertThat(on(with(waiting, 4, NOT_PREPARED, other)).arguments()).isEmpty();
    VerdictEvent third = refused("prepared=share", "it is random", "");
    third.source = "my.Third";
    assertThat(on(with(waiting, 4, third, other)).arguments())
        .as("no verdict on the judged data set")
        .containsExactly("prefetch=2", "prepared=share");
  }

  @Test
  void prefetchingThatIsRefusedIsNotAdvisedWithAnyNumberOfThreads() {
    VerdictEvent refused = refused("prefetch", "my.Crop.get uses java.util.Random", "");
    Advice off = on(with(waiting("DJL", Map.of()), 4, NOT_PREPARED, refused));
    assertThat(off.arguments()).isEmpty();
    assertThat(off.sentence()).startsWith("let the program prepare ahead in DJL with opt");
    Advice vain = on(with(waiting("DJL", Map.of("prefetch", "2")), 4, NOT_PREPARED, refused));
    assertThat(vain.sentence()).startsWith("let the program prepare ahead in DJL with opt");
  }

  /** Preparing ahead would gain more here, but needs a change to the program. */
  @Test
  void anArgumentIsAdvisedBeforeAChangeToTheProgram() {
    VerdictEvent refused = refused("prefetch", "my.Crop.get uses java.util.Random", "");
    EpochEvent figures = figures(10, 40, 0, 0, 0);
    figures.otherTime = figures.decodeTime / 4;
    figures.decodeTime -= figures.otherTime;
    Evidence decodes = evidence(figures, only(figures), List.of(), Map.of(), "DJL", 1);
    Advice advice = on(with(decodes, 4, NOT_PREPARED, refused));
    assertThat(advice.arguments()).containsExactly("decoded=share");
    Evidence decoded =
        evidence(figures, only(figures), List.of(decoded(false)), Map.of(), "DJL", 1);
    Advice next = on(with(decoded, 4, NOT_PREPARED, refused));
    assertThat(next.gain()).isGreaterThan(advice.gain());
    assertThat(next.sentence()).startsWith("let the program prepare ahead in DJL with opt");
  }

  private Advice ahead(EpochEvent figures, double cores) {
    return on(
        with(
            evidence(figures, only(figures), List.of(decoded(false)), Map.of(), "DJL", 1),
            cores,
            NOT_PREPARED));
  }

  /** The threads share the samples of a batch, so it is ready sooner than by one thread. */
  @Test
  void prefetchingTakesAsManyThreadsAsThereAreCoresToHidePreparation() {
    EpochEvent figures = figures(0, 90, 0, 0, 0);
    assertThat(ahead(figures, 2).arguments()).containsExactly("prefetch=2");
    assertThat(ahead(figures, 2).gain()).isCloseTo(100 / 45.0, within(0.01));
    assertThat(ahead(figures, 4).arguments()).containsExactly("prefetch=4");
    assertThat(ahead(figures, 4).gain()).isCloseTo(100 / 22.5, within(0.01));
    assertThat(ahead(figures, 64).arguments()).containsExactly("prefetch=9");
    assertThat(ahead(figures, 64).gain()).isCloseTo(100 / 10.0, within(0.01));
    figures.dataSetStall = 50 * SECOND; // No thread can begin before that.
    assertThat(ahead(figures, 64).arguments()).containsExactly("prefetch=4");
    assertThat(ahead(figures, 64).gain()).isCloseTo(100 / 60.0, within(0.01));
  }

  /** On one core, collections take the time of steps. */
  @Test
  void fewerCollectionsNeedLessCpuTime() {
    EpochEvent figures = figures(0, 0, 40, 0, 0);
    figures.gcPauses = 40 * SECOND;
    figures.cpu = 100 * SECOND;
    figures.collectorCpu = 40 * SECOND;
    Advice advice = on(with(evidence(figures, only(figures), List.of(), Map.of(), "DJL", 1), 1));
    assertThat(advice.finding()).isEqualTo("gcBound");
    assertThat(advice.gain()).isCloseTo(100 / 60.0, within(0.01));
  }

  @Test
  void followingTheAdviceNeverLoops() {
    Map<String, String> given = new TreeMap<>();
    List<VerdictEvent> refused = new ArrayList<>();
    for (int round = 0; round < 8; round++) {
      Evidence evidence = with(waiting("DJL", given), 4, refused.toArray(VerdictEvent[]::new));
      for (String argument : on(evidence).arguments()) {
        String[] parts = argument.split("=", 2);
        if (!parts[1].equals(given.put(parts[0], parts[1]))) {
          assertThat(refused).noneMatch(verdict -> argument.equals(verdict.policy));
          refused.add(refused(argument, "it did nothing", "")); // Every policy fails.
        }
      }
    }
    assertThat(given).containsOnlyKeys("prepared", "prefetch");
  }

  @Test
  void aSingleJobIsNeverAdvisedToShareItsBatches() {
    for (String library : List.of("DJL", "DL4J")) {
      Evidence evidence = with(waiting(library, Map.of("prefetch", "2")), 4, NOT_PREPARED);
      assertThat(on(evidence).sentence()).doesNotContain("coordinate");
    }
    StoreStatisticsEvent shared = decoded(false);
    shared.jobs = 2;
    EpochEvent figures = figures(10, 40, 0, 0, 0);
    Evidence two = evidence(figures, only(figures), List.of(shared), Map.of(), "DL4J", 1);
    assertThat(on(with(two, 4, NOT_PREPARED)).arguments()).containsExactly("prep=coordinate");
  }

  // ---- cores

  @Test
  void aJobWhosePreparationTakesCoresFromItsStepsIsNotComputeBound() {
    EpochEvent figures = overlapping();
    Evidence evidence =
        with(evidence(figures, only(figures), List.of(), Map.of(), "DL4J", 1), 2, NOT_PREPARED);
    Advice advice = on(evidence);
    assertThat(advice.finding()).isEqualTo("prepBound");
    assertThat(advice.arguments()).containsExactly("decoded=share");
    assertThat(advice.sentence())
        .contains("or lost because preparation takes cores from the steps")
        .doesNotContain("nothing to do");
    // Decoding takes 56 s of the 190 s of CPU time; without it, two cores need at least 67 s.
    assertThat(advice.gain()).isBetween(1.3, 1.5);

    figures.computeCoreWait = 0;
    figures.coreWait = SECOND / 10; // Cores to spare.
    figures.prepCoreWait = 0;
    Advice idle = on(with(evidence(figures, only(figures), List.of(), Map.of(), "DL4J", 1), 16));
    assertThat(idle.finding()).isEqualTo("computeBound");
    assertThat(idle.sentence()).startsWith("compute-bound, nothing to do");
  }

  /** A bound from cold steps would be below what the job reaches once its code is warm. */
  @Test
  void theBoundIsThatOfTheWarmestEpoch() {
    EpochEvent cold = figures(0, 40, 0, 0, 0);
    EpochEvent warm = figures(0, 40, 0, 0, 0);
    warm.wall = 60 * SECOND;
    warm.compute = 20 * SECOND;
    Advice advice = advice(cold, List.of(cold, cold, warm), List.of(), "off");
    assertThat(advice.arguments()).containsExactly("decoded=share");
    assertThat(advice.gain()).isEqualTo(3); // By all later epochs, it would be 2.
  }

  /** In a first epoch, steps are slow because their code is cold. */
  @Test
  void theBoundUsesTheFastestStepsOfLaterEpochsOnly() {
    EpochEvent epoch = figures(0, 40, 0, 0, 0);
    epoch.slowSteps = 20 * SECOND;
    assertThat(advice(epoch, List.of(epoch), List.of(), "off").gain()).isEqualTo(100 / 60.0);
    Advice later = advice(epoch, List.of(epoch, epoch, epoch), List.of(), "off");
    assertThat(later.gain()).isEqualTo(100 / 40.0);
  }

  /** Parsing a table anew in each epoch makes garbage each time. */
  @Test
  void preparationThatIsNoLongerNeededMakesNoGarbage() {
    EpochEvent figures = figures(0, 40, 15, 0, 0);
    figures.gcPauses = 25 * SECOND;
    Advice advice = on(evidence(figures, only(figures), Map.of()));
    assertThat(advice.arguments()).containsExactly("prepared=share");
    assertThat(advice.gain()).isBetween(100 / 35.5, 100 / 34.5); // Without prep and GC.
    // Prefetching only moves the work.
    Advice ahead =
        on(
            with(
                evidence(figures, only(figures), List.of(decoded(false)), Map.of(), "DJL", 1),
                4,
                NOT_PREPARED));
    assertThat(ahead.arguments()).containsExactly("prefetch=2");
    assertThat(ahead.gain()).isBetween(100 / 60.5, 100 / 59.5);
  }

  @Test
  void aPolicyThatTakesCoresFromTheStepsIsNamed() {
    EpochEvent figures = overlapping();
    figures.otherTime = figures.decodeTime;
    figures.decodeTime = 0;
    Advice advice =
        on(
            with(
                evidence(figures, only(figures), List.of(), Map.of("prefetch", "2"), "DJL", 1),
                2,
                NOT_PREPARED));
    assertThat(advice.sentence()).startsWith("prefetch on fewer threads, or not at all");
    assertThat(advice.sentence()).doesNotContain("nothing to do");
    Advice auto =
        on(
            with(
                evidence(figures, only(figures), List.of(), Map.of("prefetch", "auto"), "DJL", 1),
                2,
                NOT_PREPARED));
    assertThat(auto.sentence()).doesNotContain("fewer threads");
  }

  @Test
  void adviceNamesWhatUsesTheCoresThatStepsWaitFor() {
    EpochEvent figures = figures(1, 1, 0, 0, 0);
    figures.coreWait = 80 * SECOND;
    figures.computeCoreWait = 40 * SECOND;
    figures.cpu = 60 * SECOND;
    Evidence others = evidence(figures, only(figures), List.of(), Map.of(), "DJL", 1);
    assertThat(on(with(others, 2)).finding()).isEqualTo("coreBound");
    assertThat(on(with(others, 2)).sentence())
        .startsWith("free cores that other programs use")
        .doesNotContain("OMP_NUM_THREADS", "CPU limit");

    figures.cpu = 199 * SECOND;
    Evidence own = evidence(figures, only(figures), List.of(), Map.of(), "DJL", 1);
    assertThat(on(with(own, 2)).sentence())
        .startsWith("let the engine use fewer threads (OMP_NUM_THREADS=N")
        .contains("OMP_WAIT_POLICY=PASSIVE", "more threads ready than cores")
        .doesNotContain("CPU limit", "other programs");

    figures.throttled = 30 * SECOND;
    Evidence throttled = evidence(figures, only(figures), List.of(), Map.of(), "DJL", 1);
    assertThat(on(with(throttled, 1.5)).sentence())
        .startsWith("give the container a larger CPU limit")
        .contains("(1.5 cores) held threads back for 30.00 s");

    figures.computeCoreWait = 4 * SECOND;
    figures.coreWait = 5 * SECOND;
    figures.throttled = 0;
    Evidence calm = evidence(figures, only(figures), List.of(), Map.of(), "DJL", 1);
    assertThat(on(with(calm, 2)).sentence()).doesNotContain("waiting for a core");
  }

  /** {@code prefetch=2} does nothing for batches that the program's own class makes. */
  @Test
  void batchesOfTheProgramsOwnClassGetOnlyApplicableAdvice() {
    EpochEvent figures = figures(10, 40, 0, 0, 0);
    for (List<StoreStatisticsEvent> stores :
        List.of(List.<StoreStatisticsEvent>of(), List.of(decoded(false)))) {
      EpochEvent own = epoch(1, "my.Job$Batches", figures);
      Advice advice = on(evidence(figures, epochs(own), stores, Map.of(), "DJL", 1));
      assertThat(advice.arguments())
          .isSubsetOf("decoded=share") // The agent sees every decode of an image.
          .hasSize(stores.isEmpty() ? 1 : 0);
      assertThat(advice.sentence())
          .doesNotContain("prefetch=", "prepared=", "prep=")
          .contains(stores.isEmpty() ? "decode each image once" : "its own class makes them");
    }
    EpochEvent theirs = epoch(1, "ai.djl.training.dataset.DataIterable", figures);
    Epochs both = epochs(epoch(1, "my.Job$Batches", figures), theirs);
    assertThat(on(evidence(figures, both, List.of(decoded(false)), Map.of(), "DJL", 1)).arguments())
        .containsExactly("prepared=share");
  }

  @Test
  void aJobThatSharesBatchesIsAdvisedToUseMoreThreads() {
    Advice advice = stillWaits("DJL", Map.of("prep", "coordinate"));
    assertThat(advice.arguments()).isEmpty();
    assertThat(advice.sentence()).contains("prepare on more threads, with prefetch=N");
  }

  @Test
  void aDecodedStoreIsNotARawCache() {
    EpochEvent figures = figures(40, 10, 0, 0, 0);
    Advice advice = ofOneEpoch(figures, List.of(decoded(true)), Map.of());
    assertThat(advice.finding()).isEqualTo("fetchBound");
  }

  @Test
  void aJobBlockedByCheckpointsIsAdvisedToWriteThemInTheBackground() {
    EpochEvent figures = figures(1, 1, 0, 0, 20);
    Advice first = ofOneEpoch(figures, List.of(), Map.of("cache", "minio"));
    assertThat(first.arguments()).containsExactly("cache=minio", "checkpoint=async");
    Advice then = ofOneEpoch(figures, List.of(), Map.of("checkpoint", "async"));
    assertThat(then.arguments()).isEmpty();
    assertThat(then.sentence())
        .contains("write models 6 times less often, so that training stops for at most 3.5 %");
  }

  @Test
  void otherBottlenecksAreNamed() {
    assertThat(advice(figures(1, 2, 30, 3, 4), List.of(), List.of(), "off"))
        .extracting(Advice::finding)
        .isEqualTo("gcBound");
    assertThat(advice(figures(1, 2, 3, 30, 4), List.of(), List.of(), "off"))
        .extracting(Advice::finding)
        .isEqualTo("queueBound");
    assertThat(advice(figures(1, 2, 3, 4, 30), List.of(), List.of(), "off"))
        .extracting(Advice::finding)
        .isEqualTo("checkpointBound");
  }

  @Test
  void aLargerHeapIsNotAdvisedForExplicitCollections() {
    EpochEvent figures = figures(1, 2, 30, 3, 4);
    figures.gcPauses = 30 * SECOND;
    assertThat(ofGc(figures, "DL4J", 0.4).sentence())
        .contains("give the program a larger heap (-Xmx)");
    assertThat(ofGc(figures, "DJL", 0.6).sentence())
        .startsWith("avoid calls of System.gc(): ")
        .contains("60.0 % of all pauses", "jdk.SystemGC")
        .doesNotContain("ND4J");
    assertThat(ofGc(figures, "DL4J", 0.6).sentence())
        .contains("togglePeriodicGc(false)", "maxphysicalbytes");
    JobStatisticsEvent job = new JobStatisticsEvent();
    job.add(figures);
    job.explicitGcCaller = "my.Train.clean";
    assertThat(on(evidence(job, new Epochs(), List.of(), Map.of(), "DJL", 1)).sentence())
        .contains("60.0 % of all pauses come from such calls, most of them by my.Train.clean;")
        .doesNotContain("jdk.SystemGC");
  }

  @Test
  void pageFaultCostsAreDistinguishedFromTransforms() {
    JobStatisticsEvent job = new JobStatisticsEvent();
    job.add(figures(1, 50, 1, 1, 1));
    job.userTime = 60 * SECOND;
    job.kernelTime = 40 * SECOND;
    job.pageFaults = 90_000_000;
    Evidence evidence = evidence(job, new Epochs(), List.of(), Map.of(), "DL4J", 1);
    assertThat(on(evidence).sentence())
        .contains("the kernel takes 40.0 % of this JVM's CPU time to provide 90,000,000 pages");
    job.pageFaults = 13_000_000; // Reads account for the rest of the kernel time.
    assertThat(on(evidence).sentence()).doesNotContain("kernel");
    job.pageFaults = 90_000_000;
    job.userTime = 170 * SECOND;
    assertThat(on(evidence).sentence()).doesNotContain("kernel");
  }

  @Test
  void collectionsDuringStepsCountToo() {
    EpochEvent figures = figures(1, 20, 1, 3, 4);
    figures.gcPauses = 25 * SECOND;
    Advice advice = ofGc(figures, "DL4J", 0);
    assertThat(advice.finding()).isEqualTo("gcBound");
    assertThat(advice.nanos()).isEqualTo(25 * SECOND);
    figures.gcPauses = 15 * SECOND;
    assertThat(ofGc(figures, "DL4J", 0).finding()).isEqualTo("prepBound");
  }

  private Advice ofGc(EpochEvent figures, String framework, double explicit) {
    figures.explicitGcPauses = Math.round(explicit * figures.gcPauses);
    return on(evidence(figures, only(figures), List.of(), Map.of(), framework, 1));
  }

  @Test
  void theSpeedIsReportedOnlyIfAllBatchSizesAreKnown() {
    EpochEvent cold = figures(40, 10, 0, 0, 0);
    EpochEvent warm = figures(1, 1, 0, 0, 0);
    cold.updates = 1;
    cold.samples = 3_200;
    warm.updates = 1;
    warm.samples = 123_400;
    Evidence steady = evidence(cold, epochs(cold, warm), Map.of());
    assertThat(steady.samplesPerSecond()).isEqualTo(1_234);
    assertThat(steady.ofWhat()).isEqualTo(" from the second epoch on");
    assertThat(evidence(cold, epochs(cold), Map.of()).samplesPerSecond()).isEqualTo(32);
    EpochEvent unknown = figures(1, 1, 0, 0, 0);
    unknown.updates = 1;
    assertThat(evidence(cold, epochs(cold, warm, unknown), Map.of()).samplesPerSecond()).isZero();
    Map<String, String> profile = Map.of("profile", "all");
    assertThat(evidence(cold, epochs(cold, warm), profile).samplesPerSecond()).isZero();
    on(steady);
  }

  @Test
  void aComputeBoundJobIsLeftAlone() {
    Advice advice = advice(figures(4, 0, 0, 0, 0), List.of(), List.of(), "off");
    assertThat(advice.finding()).isEqualTo("computeBound");
    assertThat(advice.sentence()).contains("4.0 %");
    assertThat(advice(new EpochEvent(), List.of(), List.of(), "off").finding())
        .isEqualTo("nothingMeasured");
  }

  @Test
  void adviceOnAJobThatOnlyLoadsMentionsItsBatches() {
    JobStatisticsEvent job = new JobStatisticsEvent();
    job.loadedBatches = 1;
    assertThat(on(evidence(job, new Epochs(), Map.of())).sentence())
        .isEqualTo(
            "1 batch was loaded, but not trained on: no advice is possible without training; auto"
                + " caches for such jobs, too.");
    job.loadedBatches = 20;
    assertThat(on(evidence(job, new Epochs(), Map.of("auto", "on"))).sentence())
        .isEqualTo(
            "20 batches were loaded, but none was trained on: no advice is possible without"
                + " training.");
  }
}
