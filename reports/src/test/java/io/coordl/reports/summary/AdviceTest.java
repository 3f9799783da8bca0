package io.coordl.reports.summary;

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

  private Advice advice(
      Figures totals, List<Figures> epochs, List<Summary.Store> stores, String cache) {
    List<Summary.Pass> passes = new ArrayList<>();
    epochs.forEach(epoch -> passes.add(pass(passes.size() + 1, "my.Images", epoch)));
    Advice advice =
        Advice.on(
            evidence(
                totals,
                passes,
                stores,
                cache.equals("off") ? Map.of() : Map.of("cache", cache),
                "DJL",
                1));
    given.add(advice);
    return advice;
  }

  private static Summary.Pass pass(int number, String source, Figures figures) {
    return new Summary.Pass(number, "epoch", number, source, true, figures);
  }

  /** Of a job whose whole configuration was given as arguments. */
  private static Evidence evidence(
      Figures totals,
      List<Summary.Pass> passes,
      List<Summary.Store> stores,
      Map<String, String> given,
      String frameworks,
      int hosts) {
    return new Evidence(totals, passes, stores, given, given, frameworks, hosts);
  }

  private Advice ofOneEpoch(
      Figures figures, List<Summary.Store> stores, Map<String, String> configuration) {
    Advice advice =
        Advice.on(
            evidence(
                figures, List.of(pass(1, "my.Images", figures)), stores, configuration, "", 1));
    given.add(advice);
    return advice;
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

  private static Summary.Store store(long bypassed) {
    return new Summary.Store(
        "raw", "process", null, 1L << 30, 1L << 30, 500, 500, 500, 0.5, 500, 0, bypassed, 0, 0,
        null, null, null, 1);
  }

  private static Summary.Store decoded(long bypassed) {
    return new Summary.Store(
        "decoded", "process", null, 1L << 30, 1L << 30, 500, 500, 500, 0.5, 500, 0, bypassed, 0, 0,
        null, null, null, 1);
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
        Advice.on(
            evidence(
                figures,
                List.of(pass(1, "my.Images", figures), pass(2, "my.Images", figures)),
                List.of(store(500)),
                Map.of("cache", "minio"),
                "",
                3));
    given.add(advice);
    // A third of 3 GiB and a tenth more.
    assertThat(advice.arguments()).containsExactly("cache=minio", "cache.size=2g");
    assertThat(advice.sentence())
        .contains("cache=minio,cache.size=2g on each of 3 hosts, or add a host");
  }

  @Test
  void aFilledCacheIsLeftAlone() {
    Figures cold = figures(40, 10, 0, 0, 0);
    assertThat(advice(cold, List.of(cold, figures(1, 3, 0, 0, 0)), List.of(store(0)), "minio"))
        .isInstanceOf(Advice.CacheFilled.class);
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
    assertThat(advice).isInstanceOf(Advice.ComputeBound.class);
    assertThat(advice.sentence())
        .startsWith("nothing: waiting for data is 2.0 % of the time from the second epoch on");
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
        Advice.on(
            evidence(
                quick.plus(quick).plus(slow).plus(slow),
                List.of(
                    pass(1, "my.Images", quick),
                    new Summary.Pass(2, "evaluation", 1, "my.Images", true, slow),
                    pass(2, "my.Images", quick),
                    new Summary.Pass(4, "evaluation", 2, "my.Images", true, slow)),
                List.of(),
                Map.of(),
                "DJL",
                1));
    given.add(advice);
    assertThat(advice).isInstanceOf(Advice.ComputeBound.class);
  }

  @Test
  void whereNobodyKnowsWhichPassTrainsEachDataSetsFirstIsLeftOut() {
    Figures cold = figures(40, 10, 0, 0, 0);
    Figures warm = figures(30, 1, 0, 0, 0);
    Advice advice =
        Advice.on(
            evidence(
                cold,
                List.of(
                    new Summary.Pass(1, "pass", 1, "my.A", true, cold),
                    new Summary.Pass(2, "pass", 2, "my.B", true, cold),
                    new Summary.Pass(3, "pass", 3, "my.A", true, warm)),
                List.of(),
                Map.of(),
                "DJL",
                1));
    given.add(advice);
    assertThat(advice.sentence())
        .contains("30.00 s after the first pass over each data set went into waiting for storage");
  }

  @Test
  void theFirstPassOverTheValidationSetIsNoLaterEpoch() {
    Figures cold = figures(40, 10, 0, 0, 0);
    Advice advice =
        Advice.on(
            evidence(
                cold,
                List.of(pass(1, "my.Training", cold), pass(2, "my.Validation", cold)),
                List.of(store(500)),
                Map.of("cache", "minio"),
                "",
                1));
    given.add(advice);
    assertThat(advice).isInstanceOf(Advice.CacheFilled.class);
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
        Advice.on(
            evidence(
                figures,
                List.of(pass(1, "my.Images", figures)),
                List.of(decoded(0)),
                configuration,
                frameworks,
                1));
    given.add(advice);
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
        .isInstanceOf(Advice.GcBound.class);
    assertThat(advice(figures(1, 2, 3, 30, 4), List.of(), List.of(), "off"))
        .isInstanceOf(Advice.QueueBound.class);
    assertThat(advice(figures(1, 2, 3, 4, 30), List.of(), List.of(), "off"))
        .isInstanceOf(Advice.CheckpointBound.class);
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
