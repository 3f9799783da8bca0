package io.coordl.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.TuningEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When policies are switched on and off; the tests control the clock and the figures. */
class TunerTest {
  private static final long SECOND = 1_000_000_000L;

  private final JobStatisticsEvent totals = new JobStatisticsEvent();
  private final JobStatisticsEvent loading = new JobStatisticsEvent();
  private final List<TuningEvent> events = new ArrayList<>();
  private long now;
  private long prefetched;
  private boolean hasNothingToPrefetch;
  private boolean leavesSamples;
  private long hits = 1;

  private static JobStatisticsEvent copy(JobStatisticsEvent of) {
    JobStatisticsEvent copy = new JobStatisticsEvent();
    copy.add(of);
    copy.epochs = of.epochs;
    copy.loadedBatches = of.loadedBatches;
    copy.plannedEpochs = of.plannedEpochs;
    return copy;
  }

  private Tuner tuner(boolean keeps, boolean mayPrefetch) {
    return new Tuner(
        () -> copy(totals),
        () -> copy(loading),
        () -> now,
        keeps,
        () -> leavesSamples,
        () -> hits,
        mayPrefetch ? () -> prefetched : null,
        1,
        events::add);
  }

  /**
   * A second passes with {@code batches} batches of 32 samples; {@code waited} is the share spent
   * waiting.
   */
  private void second(Tuner tuner, int batches, double waited) {
    second(tuner, totals, batches, waited);
  }

  private void second(Tuner tuner, JobStatisticsEvent of, int batches, double waited) {
    now += SECOND;
    of.wall += SECOND;
    of.stall += Math.round(waited * SECOND);
    of.prepStall += Math.round(waited * SECOND);
    of.compute += SECOND - Math.round(waited * SECOND);
    of.batches += batches;
    of.samples += 32L * batches;
    tuner.keeps();
    prefetched += tuner.threads() > 0 && !hasNothingToPrefetch ? 1 : 0;
  }

  @Test
  void aJobThatDoesNotWaitIsLeftAlone() {
    hits = 0;
    Tuner tuner = tuner(false, true);
    for (int i = 0; i < 100; i++) {
      second(tuner, 50, 0.04);
    }
    assertThat(tuner.keeps()).isFalse();
    assertThat(tuner.threads()).isZero();
    assertThat(events).isEmpty();
    assertThat(tuner.summary())
        .isEqualTo(
            "auto: nothing was switched on; the job waited for preparation 4.0 % of the time and"
                + " for fetches 0.0 %");
  }

  @Test
  void aJobWithoutTrainingIsReported() {
    hits = 0;
    assertThat(tuner(false, true).summary())
        .isEqualTo("auto: nothing was switched on; no training batch was seen");
  }

  /** A thread may prefetch a few batches for another that is about to train. */
  @Test
  void aFewLoadedBatchesAreTooFewToJudge() {
    hits = 0;
    totals.loadedBatches = 3;
    assertThat(tuner(false, true).summary())
        .isEqualTo(
            "auto: nothing was switched on; no batch was trained on, and the first loading thread"
                + " took too few to judge");
  }

  @Test
  void aJobThatOnlyLoadsIsJudgedByItsEpochs() {
    Tuner tuner = tuner(false, true);
    loading.epochs = 1;
    second(tuner, loading, 50, 0.9);
    assertThat(tuner.keeps()).isTrue();
    assertThat(tuner.summary())
        .startsWith(
            "auto: cached data from 1.0 s on, because the job waited for" + " preparation 90.0 %");
    for (int i = 0; i < 20; i++) {
      loading.epochs = 2L + i;
      second(tuner, loading, 500, 0.5);
    }
    assertThat(tuner.keeps()).isTrue();
    assertThat(tuner.summary()).doesNotContain("samples/s before"); // Nothing before was measured.
  }

  /** A first pass over the data, as for a normalizer, is no measure of the training after it. */
  @Test
  void aJobThatTrainsAfterLoadingRetainsTheCachedData() {
    Tuner tuner = tuner(false, false);
    loading.epochs = 1;
    second(tuner, loading, 60, 0.9);
    assertThat(tuner.keeps()).isTrue();
    totals.epochs = 1;
    for (int i = 0; i < 100; i++) {
      totals.epochs = 1L + i / 10;
      second(tuner, 8, 0.9); // Far slower than the pass before.
    }
    assertThat(tuner.keeps()).isTrue();
    assertThat(tuner.summary()).doesNotContain("dropped", "times");
  }

  /** The program looked at some batches first, for example to count classes. */
  @Test
  void aJobThatLoadedBatchesAndDoesNotWaitIsLeftAlone() {
    hits = 0;
    Tuner tuner = tuner(false, false);
    loading.epochs = 1;
    second(tuner, loading, 50, 0.9);
    assertThat(tuner.keeps()).isTrue();
    totals.epochs = 1;
    for (int i = 0; i < 3; i++) {
      second(tuner, 50, 0.01);
    }
    assertThat(tuner.keeps()).isFalse();
    assertThat(events)
        .extracting(event -> event.change)
        .last()
        .isEqualTo("cached data is no longer used");
    assertThat(tuner.summary()).startsWith("auto: provisional caching ended; the job waited for");
    second(tuner, 50, 0.3);
    second(tuner, 50, 0.3);
    assertThat(tuner.keeps()).as("once it waits").isTrue();
  }

  @Test
  void aJobOfOneEpochThatLoadedBatchesKeepsNothing() {
    hits = 0;
    Tuner tuner = tuner(false, false);
    loading.epochs = 1;
    second(tuner, loading, 50, 0.9);
    totals.epochs = 1;
    totals.plannedEpochs = 1;
    for (int i = 0; i < 10; i++) {
      second(tuner, 50, 0.6);
    }
    assertThat(tuner.keeps()).isFalse();
  }

  @Test
  void cheapBatchesAreCachedInLongJobsOnly() {
    Tuner tuner = tuner(false, false);
    for (int i = 0; i < 30; i++) {
      second(tuner, 900, 0.6); // 0.7 ms a batch.
      assertThat(tuner.keeps()).as("after " + (i + 1) + " s").isFalse();
    }
    second(tuner, 900, 0.6);
    second(tuner, 900, 0.6);
    assertThat(tuner.keeps()).isTrue();
  }

  @Test
  void aJobThatWaitsInTwoConsecutiveWindowsStartsKeeping() {
    Tuner tuner = tuner(false, false);
    second(tuner, 50, 0.1);
    second(tuner, 50, 0);
    second(tuner, 50, 0.1);
    assertThat(tuner.keeps()).isFalse();
    second(tuner, 50, 0.1);
    assertThat(tuner.keeps()).isTrue();
    assertThat(events).hasSize(1);
    assertThat(events.get(0).waiting).isCloseTo(0.1, within(1e-9));
    assertThat(events.get(0).samplesPerSecond).isEqualTo(1600);
  }

  /** One batch is too little evidence, especially the first, which is cold. */
  @Test
  void aWindowNeedsSeveralBatches() {
    Tuner tuner = tuner(false, false);
    for (int i = 0; i < 16; i++) {
      second(tuner, 1, 0.15);
    }
    assertThat(tuner.keeps()).isFalse();
    second(tuner, 1, 0.15);
    assertThat(tuner.keeps()).isTrue();
  }

  @Test
  void aJobWithLongFirstWaitsKeepsFromTheThirdBatch() {
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    second(tuner, 1, 0.4);
    second(tuner, 1, 0.4);
    assertThat(tuner.keeps()).isFalse();
    second(tuner, 1, 0.4);
    assertThat(tuner.keeps()).isTrue();
    assertThat(tuner.keepsItems()).isFalse();
    assertThat(tuner.summary()).startsWith("auto: cached data from 3.0 s on");
  }

  /** In a short epoch, each batch that is not cached is missed in the next. */
  @Test
  void aJobThatWaitsLongerThanItComputesKeepsAndPrefetchesFromTheSecondBatch() {
    Tuner tuner = tuner(false, true);
    totals.epochs = 1;
    second(tuner, 1, 0.9);
    assertThat(tuner.keeps()).isTrue();
    assertThat(tuner.threads()).isZero();
    second(tuner, 2, 0.9);
    assertThat(tuner.threads()).isEqualTo(1);
    assertThat(tuner.summary())
        .startsWith(
            "auto: cached data from 1.0 s on, because the job waited 0.90 s for"
                + " its first data, longer than it then computed; prefetching on, 1 thread (effect"
                + " not measured)");
    for (int i = 0; i < 20; i++) {
      second(tuner, 8, 0.9);
    }
    assertThat(tuner.keeps()).isTrue();
    assertThat(events.get(0).waiting).isCloseTo(0.9, within(1e-9));
  }

  /** A thread that prepares ahead may check while the first step runs. */
  @Test
  void aFirstStepThatHasNotEndedIsNotTakenForShort() {
    Tuner tuner = tuner(false, true);
    totals.epochs = 1;
    totals.compute = -SECOND / 10; // Cancels what second() adds: no step has ended.
    second(tuner, 1, 0.9);
    assertThat(tuner.keeps()).isFalse();
    totals.compute = 5 * SECOND;
    totals.wall += 5 * SECOND;
    now += SECOND;
    assertThat(tuner.keeps()).isFalse();
    assertThat(tuner.threads()).isZero();
  }

  @Test
  void uselessDataThatAFirstBatchMadeTheAgentCacheIsNeverCalledUsed() {
    hits = 0;
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    second(tuner, 1, 0.9);
    for (int i = 0; i < 60; i++) {
      totals.epochs = 1L + i / 2;
      second(tuner, 8, 0.01);
    }
    assertThat(tuner.keeps()).isFalse();
    assertThat(events)
        .extracting(event -> event.change)
        .containsExactly("data is cached", "cached data is no longer used");
  }

  @Test
  void uselessCachedDataOfALoaderIsDroppedAlthoughThreadsBeganToPrefetch() {
    Tuner tuner = tuner(false, true);
    loading.epochs = 1;
    second(tuner, loading, 2, 0.9);
    assertThat(tuner.keeps()).isTrue();
    second(tuner, loading, 8, 0.9);
    assertThat(tuner.threads()).isEqualTo(1);
    for (int i = 0; i < 60; i++) {
      loading.epochs = 1L + i / 4;
      hits += loading.epochs - 1;
      second(tuner, loading, 8, 0.95);
    }
    assertThat(tuner.keeps()).isFalse();
  }

  /** Its samples are cheap: prefetching them would cost more than it gains. */
  @Test
  void aJobThatWaitsForShortBatchesDoesNotPrefetchWithoutATrial() {
    Tuner tuner = tuner(false, true);
    totals.epochs = 1;
    second(tuner, 1, 0.9);
    second(tuner, 100, 0.9);
    assertThat(tuner.keeps()).isTrue();
    assertThat(tuner.threads()).isZero();
  }

  /** In later epochs, too: a library that prepares ahead takes cores from the steps. */
  @Test
  void aJobWhosePreparationTakesMuchOfTheCoresKeepsInALaterEpoch() {
    int cores = Runtime.getRuntime().availableProcessors();
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    second(tuner, 1, 0.01);
    second(tuner, 50, 0.01);
    totals.epochs = 2;
    for (int i = 0; i < 3; i++) {
      assertThat(tuner.keeps()).isFalse();
      totals.decodeTime += i == 0 ? 0 : Math.round(0.2 * cores * SECOND);
      second(tuner, 50, 0.01);
    }
    assertThat(tuner.keeps()).isTrue();
    assertThat(tuner.summary())
        .contains("because fetching and preparing data took ", " of the cores' time");
  }

  @Test
  void aShortWaitForTheFirstBatchIsNoReasonToKeep() {
    Tuner tuner = tuner(false, true);
    totals.epochs = 1;
    now += SECOND;
    totals.wall = Tuner.LONG_FIRST_NANOS;
    totals.stall = totals.wall - 1;
    totals.prepStall = totals.stall;
    totals.compute = 1;
    totals.batches = 1;
    assertThat(tuner.keeps()).isFalse();
  }

  @Test
  void aJobThatHardlyWaitsKeepsFromTheThirdBatchIfPreparationTakesMuchOfTheCores() {
    int cores = Runtime.getRuntime().availableProcessors();
    assertThat(keepsAtOnce(0.2 * cores, 0)).isTrue();
    assertThat(keepsAtOnce(0.1 * cores, 0)).isFalse();
    assertThat(keepsAtOnce(0.2 * cores, 1)).isFalse();
  }

  /** The program may have decoded its images before, for example to get their mean. */
  @Test
  void workBeforeTheFirstCheckIsNoReasonToKeep() {
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    totals.decodeTime = 60 * SECOND;
    second(tuner, 50, 0.01);
    assertThat(tuner.keeps()).isFalse();
  }

  private boolean keepsAtOnce(double prepared, int plannedEpochs) {
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    totals.plannedEpochs = plannedEpochs;
    for (int i = 0; i < 3; i++) {
      totals.decodeTime += Math.round(prepared * SECOND);
      second(tuner, 1, 0.01);
    }
    return tuner.keeps();
  }

  @Test
  void theFirstImagesAreCachedUntilTheJobIsSeenNotToWait() {
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    assertThat(tuner.triesImages()).isTrue();
    second(tuner, 1, 0.9); // Cold.
    second(tuner, 7, 0.01);
    assertThat(tuner.triesImages()).isTrue();
    second(tuner, 1, 0.01);
    assertThat(tuner.triesImages()).isFalse();
    assertThat(tuner.keepsItems()).isFalse();
  }

  @Test
  void imagesOfAJobThatWaitsAreCachedUntilTheSecondEpoch() {
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    for (int i = 0; i < 20; i++) {
      second(tuner, 50, 0.6);
      assertThat(tuner.triesImages()).isTrue();
    }
    totals.epochs = 2;
    second(tuner, 50, 0.6);
    assertThat(tuner.triesImages()).isFalse();
    assertThat(tuner.keepsItems()).isTrue();
  }

  @Test
  void imagesOfAJobThatWaitsALittleAreCachedToo() {
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    for (int i = 0; i < 20; i++) {
      second(tuner, 1, 0.15);
      assertThat(tuner.triesImages()).isTrue();
    }
  }

  @Test
  void noImageOfAJobOfOneEpochIsCached() {
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    totals.plannedEpochs = 1;
    second(tuner, 1, 0.9);
    assertThat(tuner.triesImages()).isFalse();
  }

  /** The first batch is cold, so its wait proves little. */
  @Test
  void keepingThatAColdFirstBatchStartedEnds() {
    hits = 0;
    Tuner tuner = tuner(false, true);
    totals.epochs = 1;
    second(tuner, 1, 0.9);
    assertThat(tuner.keeps()).isTrue();
    for (int i = 0; i < 20; i++) {
      second(tuner, 8, 0.01);
    }
    assertThat(tuner.keeps()).isFalse();
    assertThat(tuner.threads()).isZero();
    assertThat(events)
        .extracting(event -> event.change)
        .containsExactly("data is cached", "cached data is no longer used");
    assertThat(tuner.summary()).startsWith("auto: provisional caching ended; the job waited for");
  }

  /** While steps are cold, a library that prepares ahead hides what the job will wait for. */
  @Test
  void keepingThatAFirstBatchStartedContinuesIfPreparationTakesMuchOfTheCores() {
    hits = 0;
    int cores = Runtime.getRuntime().availableProcessors();
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    second(tuner, 1, 0.9);
    for (int i = 0; i < 5; i++) {
      totals.decodeTime += Math.round(0.3 * cores * SECOND);
      second(tuner, 8, 0.01);
    }
    assertThat(tuner.keeps()).isTrue();
    assertThat(events).hasSize(1);
  }

  @Test
  void withoutSampleCachingItemsAreKeptImmediatelyAndJudgedAnEpochLater() {
    leavesSamples = true;
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    second(tuner, 50, 0.6);
    assertThat(tuner.keepsItems()).isTrue();
    for (int i = 0; i < 20; i++) {
      second(tuner, 50, 0.6);
    }
    for (totals.epochs = 2; totals.epochs < 4; totals.epochs++) {
      for (int i = 0; i < 10; i++) {
        second(tuner, 200, 0.1);
      }
    }
    assertThat(events)
        .extracting(event -> event.change)
        .containsExactly("data is cached", "cached data is used");
    assertThat(tuner.summary())
        .endsWith(
            "1600 samples/s before, 6400 after; at most 2.35x as fast with caching; the rest is the"
                + " job's own warm-up");
  }

  @Test
  void aJobOfOneEpochKeepsNothing() {
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    totals.plannedEpochs = 1;
    for (int i = 0; i < 10; i++) {
      second(tuner, 50, 0.6);
    }
    assertThat(tuner.keeps()).isFalse();
  }

  @Test
  void theGainIsMeasuredInEpochsThatUseKeptData() {
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    for (int i = 0; i < 12; i++) {
      second(tuner, 50, 0.1);
      second(tuner, 50, i == 11 ? 0.1 : 0);
    }
    totals.epochs = 2;
    second(tuner, 50, 0.6);
    totals.epochs = 3;
    second(tuner, 50, 0.6);
    for (int i = 0; i < 20; i++) {
      second(tuner, 200, 0);
    }
    assertThat(tuner.summary())
        .isEqualTo(
            "auto: cached data from 24.0 s on, because the job waited for preparation 5.4 % of the"
                + " time and for fetches 0.0 %; 1600 samples/s before, 6400 after; at most 1.06x as"
                + " fast with caching; the rest is the job's own warm-up");
  }

  @Test
  void theSummarySaysThatTheJobUsedNoCachedData() {
    hits = 0;
    leavesSamples = true;
    Tuner tuner = tuner(false, false);
    for (totals.epochs = 1; totals.epochs < 4; totals.epochs++) {
      for (int i = 0; i < 20; i++) {
        second(tuner, totals.epochs == 1 ? 50 : 100, 0.6);
      }
    }
    assertThat(tuner.summary()).startsWith("auto: tried to cache").contains("used none of it");
  }

  /** Four epochs: the job waits for 60 % of the first two; the arguments describe the others. */
  private void epochs(Tuner tuner, int batches, double waited) {
    for (totals.epochs = 1; totals.epochs < 5; totals.epochs++) {
      for (int i = 0; i < 2 * Tuner.JUDGED; i++) {
        second(tuner, totals.epochs < 3 ? 50 : batches, totals.epochs < 3 ? 0.6 : waited);
      }
    }
  }

  @Test
  void samplesAreKeptImmediatelyAndItemsFromTheNextEpoch() {
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    for (int i = 0; i < 5; i++) {
      second(tuner, 50, 0.6);
    }
    assertThat(tuner.keeps()).isTrue();
    assertThat(tuner.keepsItems()).isFalse();
    totals.epochs = 2;
    second(tuner, 50, 0.6);
    assertThat(tuner.keepsItems()).isTrue();
  }

  @Test
  void aJobThatWaitsForFetchesStartsKeepingToo() {
    Tuner tuner = tuner(false, false);
    for (int i = 0; i < 2; i++) {
      totals.fetchStall += SECOND / 5;
      second(tuner, 50, 0);
    }
    assertThat(tuner.keeps()).isTrue();
    assertThat(tuner.summary()).contains("for fetches 20.0 %");
  }

  @Test
  void keepingThatDoesNotPayIsDropped() {
    Tuner tuner = tuner(false, false);
    epochs(tuner, 50, 0.6);
    assertThat(tuner.keeps()).isFalse();
    assertThat(tuner.keepsItems()).isFalse();
    assertThat(events)
        .extracting(event -> event.change)
        .last()
        .isEqualTo("cached data is no longer used");
    assertThat(tuner.summary())
        .contains("dropped it, because the job was no faster and waited no less");
    second(tuner, 50, 0);
    second(tuner, 50, 0.6);
    second(tuner, 50, 0.6);
    assertThat(tuner.keeps()).isFalse();
  }

  /** Prefetching hides most waits of the first epoch, with which the cached epochs are compared. */
  @Test
  void keepingThatPaysIsNotDroppedBecausePrefetchingHelpedBefore() {
    hits = 0;
    leavesSamples = true;
    Tuner tuner = tuner(false, true);
    totals.epochs = 1;
    for (int i = 0; i < 30; i++) {
      second(tuner, tuner.threads() > 0 ? 100 : 50, tuner.threads() > 0 ? 0.1 : 0.5);
    }
    assertThat(tuner.threads()).isEqualTo(1);
    for (totals.epochs = 2; totals.epochs < 5; totals.epochs++) {
      for (int i = 0; i < 10; i++) {
        hits++;
        second(tuner, tuner.threads() > 0 ? 120 : 80, tuner.threads() > 0 ? 0.02 : 0.3);
      }
    }
    assertThat(tuner.keeps()).isTrue();
    assertThat(events).extracting(event -> event.change).contains("cached data is used");
  }

  /** Another job of the group has filled the store, so the first epoch uses cached data, too. */
  @Test
  void aStoreThatAnotherJobFilledIsNotDropped() {
    leavesSamples = true;
    Tuner tuner = tuner(false, false);
    totals.epochs = 1;
    second(tuner, 10, 0.3);
    second(tuner, 10, 0.3);
    assertThat(tuner.keeps()).isTrue();
    for (int i = 0; i < 820; i++) {
      hits++;
      totals.epochs = 1L + i / 400;
      second(tuner, 200, 0.1);
    }
    assertThat(tuner.keeps()).isTrue();
    assertThat(tuner.summary()).doesNotContain("no measurable effect");
  }

  /** Another job took the cores: the steps are slower, although the waits are shorter. */
  @Test
  void keepingThatShortensWaitsIsNotDroppedIfTheJobIsSlower() {
    Tuner tuner = tuner(false, false);
    epochs(tuner, 40, 0.1);
    assertThat(tuner.keeps()).isTrue();
    assertThat(events.get(1).change).isEqualTo("cached data is used");
    assertThat(events.get(1).reason)
        .isEqualTo("1600 samples/s before, 1280 after: no measurable effect");
  }

  /** Runs windows until the trial ends; windows with prefetching have {@code batches} batches. */
  private void trial(Tuner tuner, int batches) {
    for (int i = 0; i <= 2 * ThreadClimb.TRIAL; i++) { // The window after a change does not count.
      second(tuner, tuner.threads() > 0 ? batches : 50, 0.3);
    }
  }

  @Test
  void prefetchingStaysOnIfTheJobIsFasterWithIt() {
    Tuner tuner = tuner(true, true);
    trial(tuner, 60);
    assertThat(tuner.threads()).isEqualTo(1);
    assertThat(events)
        .extracting(event -> event.change)
        .containsExactly("prefetching is on, 1 thread");
    assertThat(tuner.summary()).isEqualTo("prefetching on, 1 thread (1.20x as fast with it)");
    for (int i = 0; i < ThreadClimb.RETRY_WINDOWS; i++) {
      second(tuner, 60, 0.1);
    }
    trial(tuner, 40); // Another job now needs the core.
    assertThat(tuner.threads()).isZero();
  }

  @Test
  void prefetchingThatSlowsTheJobDownIsTriedAgainLater() {
    Tuner tuner = tuner(true, true);
    trial(tuner, 45);
    assertThat(tuner.threads()).isZero();
    for (int i = 0; i < 2 * ThreadClimb.RETRY_WINDOWS - ThreadClimb.TRIAL; i++) {
      second(tuner, 50, 0.3);
      assertThat(tuner.threads()).isZero();
    }
    trial(tuner, 70);
    assertThat(tuner.threads()).isEqualTo(1);
  }

  /** The second epoch is five times as fast because it uses cached data, not because of threads. */
  @Test
  void aTrialDoesNotCompareAnUncachedEpochWithACachedOne() {
    Tuner tuner = tuner(false, true);
    for (totals.epochs = 1; totals.epochs < 4; totals.epochs++) {
      second(tuner, totals.epochs == 1 ? 10 : 50, 0.6);
      second(tuner, totals.epochs == 1 ? 10 : 50, 0.6);
    }
    assertThat(prefetched).isPositive();
    assertThat(tuner.summary()).doesNotContain("as fast with it");
  }

  /** A loop of 40 batches a second does not need a second to show that threads help. */
  @Test
  void theFirstWindowsOfATrialAreShort() {
    Tuner tuner = tuner(true, true);
    for (int i = 0; i < 12; i++) {
      int threads = tuner.threads();
      now += SECOND / 10;
      totals.wall += SECOND / 10;
      totals.stall += SECOND / 20;
      totals.prepStall += SECOND / 20;
      totals.batches += threads > 0 ? 8 : 4;
      prefetched += threads;
    }
    assertThat(tuner.threads()).isEqualTo(1);
    assertThat(tuner.summary())
        .isEqualTo("prefetching on, 1 thread (faster with it in a short trial)");
  }

  @Test
  void aTrialThatPrefetchedNothingIsInconclusive() {
    hasNothingToPrefetch = true;
    Tuner tuner = tuner(true, true);
    trial(tuner, 70);
    assertThat(tuner.threads()).isZero();
    assertThat(tuner.summary()).isEmpty();
    assertThat(events).isEmpty();
  }

  @Test
  void aJobThatDoesNotWaitStartsNoTrial() {
    Tuner tuner = tuner(true, true);
    for (int i = 0; i < 100; i++) {
      second(tuner, 50, 0.01);
    }
    assertThat(tuner.threads()).isZero();
    assertThat(tuner.summary()).isEmpty();
  }
}
