package io.coordl.advice;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AdviceTest {
  private static final Set<String> ARGUMENTS =
      Set.of(
          "record",
          "summary",
          "dataset",
          "cache",
          "cache.size",
          "cache.scope",
          "prefetch",
          "prep",
          "decoded",
          "decoded.size",
          "group",
          "enabled");
  private static final long SECOND = 1_000_000_000L;

  private final List<Advice> given = new ArrayList<>();

  private Advice on(Evidence evidence) {
    Advice advice = Advice.on(evidence);
    given.add(advice);
    return advice;
  }

  private Advice advice(
      Figures totals, List<Figures> epochs, List<Evidence.Store> stores, String cache) {
    Passes passes = new Passes();
    epochs.forEach(epoch -> passes.add(true, "my.Images", true, epoch));
    return on(
        evidence(
            totals,
            passes,
            stores,
            cache.equals("off") ? Map.of() : Map.of("cache", cache),
            "DJL",
            1));
  }

  private static Passes epoch(Figures figures) {
    return passes(pass(true, "my.Images", figures));
  }

  private record Pass(boolean updates, String source, Figures figures) {}

  private static Pass pass(boolean updates, String source, Figures figures) {
    return new Pass(updates, source, figures);
  }

  private static Passes passes(Pass... all) {
    Passes passes = new Passes();
    for (Pass pass : all) {
      passes.add(pass.updates(), pass.source(), true, pass.figures());
    }
    return passes;
  }

  /** Of a job whose whole configuration was given as arguments. */
  private static Evidence evidence(
      Figures totals,
      Passes passes,
      List<Evidence.Store> stores,
      Map<String, String> given,
      String frameworks,
      int hosts) {
    return new Evidence(totals, passes, stores, given, given, frameworks, hosts);
  }

  private Advice ofOneEpoch(
      Figures figures, List<Evidence.Store> stores, Map<String, String> configuration) {
    return on(evidence(figures, epoch(figures), stores, configuration, "", 1));
  }

  /** Of 100 s, the stalls and checkpoints given in seconds; each epoch asks for 3 GiB. */
  private static Figures figures(long fetch, long prep, long gc, long queue, long checkpoint) {
    long stall = fetch + prep + gc + queue;
    return new Figures(
        100 * SECOND,
        100,
        (100 - stall - checkpoint) * SECOND,
        stall * SECOND,
        fetch * SECOND,
        prep * SECOND,
        gc * SECOND,
        queue * SECOND,
        checkpoint * SECOND,
        fetch * SECOND,
        prep * SECOND,
        0,
        0,
        1_000,
        0,
        0,
        1_000,
        0,
        0,
        3L << 30);
  }

  private static Evidence.Store store(long bypassed) {
    return new Evidence.Store(false, bypassed > 0, 1L << 30);
  }

  private static Evidence.Store decoded(long bypassed) {
    return new Evidence.Store(true, bypassed > 0, 1L << 30);
  }

  @AfterEach
  void noAdviceNamesAnArgumentThatDoesNotExist() {
    assertThat(given).isNotEmpty();
    Pattern argument = Pattern.compile("([a-z]+(?:\\.[a-z]+)?)=");
    for (Advice advice : given) {
      String words = advice.sentence().replace("-javaagent:coordl-agent.jar=", "");
      assertThat(argument.matcher(words).results().map(found -> found.group(1)).toList())
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
  void aJobThatWaitsForStorageIsToldToCache() {
    Figures figures = figures(40, 10, 0, 0, 0);
    Advice advice = advice(figures, List.of(figures), List.of(), "off");
    assertThat(advice.finding()).isEqualTo("fetchBound");
    assertThat(advice.arguments()).containsExactly("cache=minio");
    assertThat(advice.sentence()).contains("40.00 s", "3.0 GiB");
  }

  @Test
  void ofAProfileNothingIsToldThatItsPhasesMade() {
    Figures figures = figures(40, 10, 0, 0, 0);
    Advice advice = ofOneEpoch(figures, List.of(), Map.of("profile", "all"));
    assertThat(advice.finding()).isEqualTo("profiled");
    assertThat(advice.arguments()).isEmpty();
  }

  @Test
  void aFullCacheIsToldItsSize() {
    Figures figures = figures(40, 10, 0, 0, 0);
    Advice advice = advice(figures, List.of(figures, figures), List.of(store(500)), "minio");
    assertThat(advice.finding()).isEqualTo("cacheTooSmall");
    assertThat(advice.arguments()).containsExactly("cache=minio", "cache.size=4g");
  }

  @Test
  void aCacheWithRoomThatDoesNotHelpLacksTheDataSet() {
    Figures figures = figures(40, 10, 0, 0, 0);
    Advice advice = advice(figures, List.of(figures, figures), List.of(store(0)), "minio");
    assertThat(advice.finding()).isEqualTo("cacheNotAsked");
    assertThat(advice.arguments()).containsExactly("cache=minio", "dataset=PATH");
  }

  @Test
  void hostsThatHoldTheDataSetTogetherShareWhatIsMissing() {
    Figures figures = figures(40, 10, 0, 0, 0);
    Advice advice =
        on(
            evidence(
                figures,
                passes(pass(true, "my.Images", figures), pass(true, "my.Images", figures)),
                List.of(store(500)),
                Map.of("cache", "minio"),
                "",
                3));
    // A third of 3 GiB and a tenth more.
    assertThat(advice.arguments()).containsExactly("cache=minio", "cache.size=2g");
    assertThat(advice.sentence())
        .contains("cache of each of 3 hosts", "or add a host, with", "cache=minio,cache.size=2g:");
  }

  @Test
  void aFilledCacheIsLeftAlone() {
    Figures cold = figures(40, 10, 0, 0, 0);
    assertThat(advice(cold, List.of(cold, figures(1, 3, 0, 0, 0)), List.of(store(0)), "minio"))
        .extracting(Advice::finding)
        .isEqualTo("cacheFilled");
    assertThat(advice(cold, List.of(cold), List.of(store(0)), "minio").sentence())
        .startsWith("let the job run on");
  }

  @Test
  void theCureThatAJobHasIsNotDropped() {
    Advice advice =
        stillWaits("DJL", Map.of("decoded", "share", "dataset", "/a, /b", "cache", "minio"));
    assertThat(advice.arguments())
        .containsExactly("cache=minio", "dataset=/a", "dataset=/b", "decoded=share", "prefetch=2");
    assertThat(advice.sentence())
        .contains(
            "-javaagent:coordl-agent.jar=cache=minio,dataset=/a,dataset=/b,decoded=share,prefetch=2");
  }

  @Test
  void theFirstEpochAloneIsNoReasonToChangeAnything() {
    Figures cold = figures(40, 10, 0, 0, 0);
    Figures warm = figures(1, 1, 0, 0, 0);
    Advice advice = advice(cold, List.of(cold, warm, warm), List.of(), "off");
    assertThat(advice).extracting(Advice::finding).isEqualTo("computeBound");
    assertThat(advice.sentence())
        .startsWith(
            "compute-bound, nothing to do: waiting for data is 2.0 % of the time from the second"
                + " epoch on");
    assertThat(advice.arguments()).isEmpty();
  }

  @Test
  void whereOnlyTheFirstEpochIsThereItIsJudgedAndThatIsSaid() {
    Figures figures = figures(40, 10, 0, 0, 0);
    assertThat(advice(figures, List.of(figures), List.of(), "off").sentence())
        .contains("40.00 s in the only epoch went into waiting for storage");
  }

  @Test
  void whatEvaluationsWaitForIsNoReasonEither() {
    Figures quick = figures(1, 1, 0, 0, 0);
    Figures slow = figures(40, 40, 0, 0, 0);
    Advice advice =
        on(
            evidence(
                quick.plus(quick).plus(slow).plus(slow),
                passes(
                    pass(true, "my.Images", quick),
                    pass(false, "my.Images", slow),
                    pass(true, "my.Images", quick),
                    pass(false, "my.Images", slow)),
                List.of(),
                Map.of(),
                "DJL",
                1));
    assertThat(advice).extracting(Advice::finding).isEqualTo("computeBound");
  }

  @Test
  void whereNobodyKnowsWhichPassTrainsEachDataSetsFirstIsLeftOut() {
    Figures cold = figures(40, 10, 0, 0, 0);
    Figures warm = figures(30, 1, 0, 0, 0);
    Advice advice =
        on(
            evidence(
                cold,
                passes(
                    pass(false, "my.A", cold),
                    pass(false, "my.B", cold),
                    pass(false, "my.A", warm)),
                List.of(),
                Map.of(),
                "DJL",
                1));
    assertThat(advice.sentence())
        .contains("30.00 s after the first pass over each data set went into waiting for storage");
  }

  @Test
  void theFirstPassOverTheValidationSetIsNoLaterEpoch() {
    Figures cold = figures(40, 10, 0, 0, 0);
    Advice advice =
        on(
            evidence(
                cold,
                passes(pass(true, "my.Training", cold), pass(true, "my.Validation", cold)),
                List.of(store(500)),
                Map.of("cache", "minio"),
                "",
                1));
    assertThat(advice).extracting(Advice::finding).isEqualTo("cacheFilled");
  }

  @Test
  void aJobThatWaitsForDecodingIsToldToKeepWhatItDecodes() {
    Figures figures = figures(10, 40, 0, 0, 0);
    Advice advice = advice(figures, List.of(figures), List.of(), "off");
    assertThat(advice.finding()).isEqualTo("prepBound");
    assertThat(advice.arguments()).containsExactly("decoded=share");
    assertThat(advice.sentence()).contains("40.00 s", "will not help here");
  }

  @Test
  void aFullStoreOfDecodedItemsIsToldToGrow() {
    Figures figures = figures(10, 40, 0, 0, 0);
    Advice advice = advice(figures, List.of(figures), List.of(decoded(500)), "off");
    assertThat(advice.arguments()).containsExactly("decoded.size=SIZE");
  }

  /** Waits for preparation, though what it decodes is kept. */
  private Advice stillWaits(String frameworks, Map<String, String> configuration) {
    Figures figures = figures(10, 40, 0, 0, 0);
    Advice advice =
        on(evidence(figures, epoch(figures), List.of(decoded(0)), configuration, frameworks, 1));
    assertThat(advice.finding()).isEqualTo("prepBound");
    return advice;
  }

  @Test
  void aDjlJobThatKeepsWhatItDecodesIsToldToPrepareAhead() {
    Advice advice = stillWaits("DJL", Map.of());
    assertThat(advice.arguments()).containsExactly("prefetch=2");
    assertThat(advice.sentence()).contains("prefetch=2", "prep=coordinate");
  }

  @Test
  void aJobThatPreparesAheadIsToldToShare() {
    assertThat(stillWaits("DJL", Map.of("prefetch", "2")).arguments())
        .containsExactly("prefetch=2", "prep=coordinate");
    assertThat(stillWaits("DL4J", Map.of()).arguments()).containsExactly("prep=coordinate");
  }

  @Test
  void aJobThatSharesIsToldToUseThreads() {
    Advice advice = stillWaits("DJL", Map.of("prep", "coordinate"));
    assertThat(advice.arguments()).isEmpty();
    assertThat(advice.sentence()).contains("prepare on more threads, with prefetch=N");
  }

  @Test
  void whatIsDecodedIsNoRawCache() {
    Figures figures = figures(40, 10, 0, 0, 0);
    Advice advice = ofOneEpoch(figures, List.of(decoded(500)), Map.of());
    assertThat(advice.finding()).isEqualTo("fetchBound");
  }

  @Test
  void whateverElseHoldsTheJobUpIsNamed() {
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
  void aJobThatComputesIsLeftAlone() {
    Advice advice = advice(figures(4, 0, 0, 0, 0), List.of(), List.of(), "off");
    assertThat(advice.finding()).isEqualTo("computeBound");
    assertThat(advice.sentence()).contains("4.0 %");
    assertThat(advice(Figures.NONE, List.of(), List.of(), "off").finding())
        .isEqualTo("nothingMeasured");
  }
}
