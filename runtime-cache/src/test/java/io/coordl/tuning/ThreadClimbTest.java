package io.coordl.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

/** The number of threads chosen for jobs whose speed is known for each number of threads. */
class ThreadClimbTest {
  private static final double WINDOW = 1e9;

  private ThreadClimb climb = new ThreadClimb(12);
  private final List<Integer> tried = new ArrayList<>();
  private final List<String> logged = new ArrayList<>();
  private long prefetched;

  private static ThreadClimbTest onCores(int cores) {
    ThreadClimbTest test = new ThreadClimbTest();
    test.climb = new ThreadClimb(cores - 1);
    return test;
  }

  /** Runs windows; a batch's step and wait are in milliseconds, by number of threads. */
  private void run(int windows, IntToDoubleFunction step, IntToDoubleFunction wait) {
    run(windows, step, wait, 0, new Random(1));
  }

  private void run(
      int windows, IntToDoubleFunction step, IntToDoubleFunction wait, double noise, Random noisy) {
    for (int i = 0; i < windows; i++) {
      int threads = climb.threads();
      tried.add(threads);
      prefetched += threads;
      double factor = 1 + noise * noisy.nextGaussian();
      double steps = step.applyAsDouble(threads) * factor;
      double waits = wait.applyAsDouble(threads) * factor;
      Figures window = new JobStatisticsEvent();
      window.wall = (long) WINDOW;
      window.batches = Math.round(1e6 / (steps + waits));
      window.stall = Math.round(WINDOW * waits / (steps + waits));
      window.prepStall = window.stall;
      String[] decided = climb.ended(window, prefetched);
      if (decided != null) {
        logged.add(decided[0]);
        assertThat(decided[1]).contains("x as fast with");
      }
    }
  }

  /**
   * Milliseconds of waiting for a batch: 40 ms of preparation, shared by the training thread and at
   * most {@code useful} others, less the 5 ms of a step.
   */
  private static double shared(int threads, int useful) {
    return Math.max(0, 40.0 / (1 + Math.min(threads, useful)) - 5);
  }

  @Test
  void threadsGrowWhileTheWaitFalls() {
    run(60, n -> 5, n -> shared(n, 4));
    assertThat(climb.threads()).isEqualTo(4);
    assertThat(logged)
        .containsExactly(
            "prefetching is on, 2 threads",
            "prefetching is on, 4 threads",
            "prefetching is on, 4 threads");
    assertThat(tried).doesNotContain(9, 10, 11, 12);
    assertThat(climb.summary(prefetched))
        .isEqualTo("prefetching on, 4 threads (faster with it in a short trial)");
  }

  @Test
  void threadsThatBeganWithoutATrialAreComparedWithNone() {
    start(5, 35);
    assertThat(climb.threads()).isEqualTo(2);
    assertThat(climb.keepsThreads()).isFalse();
    assertThat(climb.summary(prefetched)).isEmpty();
    assertThat(climb.summary(prefetched + 1))
        .isEqualTo("prefetching on, 2 threads (effect not measured)");
    run(2, n -> 5, n -> shared(n, 2));
    assertThat(tried).containsExactly(2, 0);
    assertThat(climb.keepsThreads()).isTrue();
    assertThat(logged).containsExactly("prefetching is on, 2 threads");
    run(20, n -> 5, n -> shared(n, 2));
    assertThat(climb.threads()).isEqualTo(2);
    assertThat(climb.summary(prefetched))
        .isEqualTo("prefetching on, 2 threads (faster with it in a short trial)");
  }

  @Test
  void threadsThatBeganWithoutATrialEndIfTheyDoNotHelp() {
    start(5, 35);
    run(ThreadClimb.TRIAL + 1, n -> n == 0 ? 5 : 10, n -> n == 0 ? 35 : 34);
    assertThat(climb.threads()).isZero();
    run(20, n -> n == 0 ? 5 : 10, n -> n == 0 ? 35 : 34);
    assertThat(climb.threads()).isZero();
    assertThat(logged).containsExactly("prefetching is off");
  }

  private void start(long step, long wait) {
    Figures window = new JobStatisticsEvent();
    window.wall = (step + wait) * 1_000_000;
    window.batches = 1;
    window.stall = wait * 1_000_000;
    window.prepStall = window.stall;
    climb.start(window, prefetched);
  }

  @Test
  void theLimitOfThreadsIsReachedAndNotExceeded() {
    run(300, n -> 1, n -> 400.0 / (1 + n));
    assertThat(climb.threads()).isEqualTo(12);
    assertThat(tried).allMatch(threads -> threads <= 12);
  }

  @Test
  void aJobThatNoLongerWaitsGetsNoMoreThreads() {
    run(300, n -> 5, n -> n >= 2 ? 0 : 20.0 / (1 + n));
    assertThat(climb.threads()).isEqualTo(2);
    assertThat(tried).allMatch(threads -> threads <= 2);
  }

  @Test
  void aClearResultEndsATrialHalfway() {
    run(1, n -> 21, n -> 20); // Enough to begin a trial.
    run(ThreadClimb.TRIAL / 2, n -> 21, n -> n == 0 ? 20 : 14);
    assertThat(logged).containsExactly("prefetching is on, 1 thread");

    run(ThreadClimb.TRIAL / 2, n -> 21, n -> n == 1 ? 14 : 10.8);
    assertThat(logged).as("1.1x as fast: not clear").hasSize(1);
    run(ThreadClimb.TRIAL / 2, n -> 21, n -> n == 1 ? 14 : 10.8);
    assertThat(logged).hasSize(2);
    assertThat(climb.threads()).isEqualTo(2);
  }

  /** On 16 cores, with windows of one second. */
  @Test
  void manyCoresTakeFewWindows() {
    ThreadClimbTest wide = onCores(16);
    wide.run(6, n -> 1, n -> 400.0 / (1 + n));
    assertThat(wide.tried).containsExactly(0, 0, 2, 4, 8, 15);
    assertThat(wide.logged)
        .containsExactly(
            "prefetching is on, 2 threads",
            "prefetching is on, 4 threads",
            "prefetching is on, 8 threads",
            "prefetching is on, 15 threads");
  }

  /** A clear gain from doubling is no reason to double again. */
  @Test
  void aSteepClimbStopsAtTheFewestUsefulThreads() {
    for (int useful : new int[] {1, 2, 4, 8}) {
      ThreadClimbTest wide = onCores(16);
      // A job whose waits exceed its steps begins with two threads, and tries one later.
      wide.run(
          useful == 1 ? 2 * ThreadClimb.RETRY_WINDOWS : 40,
          n -> 1,
          n -> 400.0 / (1 + Math.min(n, useful)));
      assertThat(wide.climb.summary(prefetched))
          .as(useful + "")
          .contains("on, " + useful + " thread");
      int most = 2 * Math.max(2, useful);
      assertThat(wide.tried).as(useful + "").allMatch(threads -> threads <= most);
    }
  }

  /** The threads slow the steps down; the job is slower with four than with two. */
  @Test
  void threadsThatSlowTheStepsDownAreNotUsed() {
    run(200, n -> 5 + 3 * n, n -> shared(n, 12));
    assertThat(climb.threads()).isEqualTo(2);
  }

  @Test
  void aNeighbourThatSlowsTheStepsSoonReducesThreads() {
    run(60, n -> 5, n -> shared(n, 4));
    int quiet = tried.size();
    assertThat(climb.threads()).isEqualTo(4);
    run(2 + 3 * ThreadClimb.TRIAL, n -> 10 + 6 * n, n -> shared(n, 4));
    assertThat(climb.threads()).isLessThan(4);
    assertThat(tried.subList(quiet, quiet + 6)).contains(2);
    run(40, n -> 10 + 20 * n, n -> shared(n, 4));
    run(ThreadClimb.RETRY_WINDOWS, n -> 10 + 20 * n, n -> shared(n, 4));
    assertThat(climb.threads()).isZero();
    run(500, n -> 5, n -> shared(n, 4)); // The other job has ended.
    assertThat(climb.threads()).isEqualTo(4);
  }

  /**
   * Windows vary by 5 %. Batches take 20 % longer with eight threads than with four; with two, they
   * take 43 % longer.
   */
  @Test
  void noiseRarelyChangesTheResult() {
    for (int seed = 0; seed < 50; seed++) {
      ThreadClimbTest one = new ThreadClimbTest();
      one.run(400, n -> 5 + 0.5 * n, n -> shared(n, 4), 0.05, new Random(seed));
      assertThat(one.tried.subList(200, 400).stream().filter(threads -> threads == 4).count())
          .as("seed " + seed)
          .isGreaterThan(120);
    }
  }

  /**
   * One window in five has a long wait that has nothing to do with prefetching. The window that
   * waits and thus begins a trial must not count in it.
   */
  @Test
  void occasionalWaitsAreNotMistakenForAnEffect() {
    int claims = 0;
    for (int seed = 0; seed < 100; seed++) {
      ThreadClimbTest one = new ThreadClimbTest();
      Random random = new Random(seed);
      for (int i = 0; i < 40; i++) {
        one.run(1, n -> 20, n -> random.nextInt(5) == 0 ? 12 : 0.2);
      }
      claims += one.climb.threads() > 0 ? 1 : 0;
      assertThat(one.climb.summary(prefetched)).doesNotContain("prefetching on, 1 thread (1");
    }
    assertThat(claims).isLessThanOrEqualTo(40);
  }

  /** Steps get faster for another reason; without its waits the job would be 1.06x as fast. */
  @Test
  void anEffectIsNeverLargerThanTheWaitsExplain() {
    run(40, n -> n == 0 ? 20 : 12, n -> n == 0 ? 1.2 : 0);
    assertThat(climb.threads()).isEqualTo(1);
    assertThat(climb.summary(prefetched)).contains("1.06x as fast with it");
  }

  /** Storage reaches its limit with two threads. */
  @Test
  void storageAtItsLimitGetsNoMoreThreads() {
    run(200, n -> 5, n -> shared(n, 2));
    assertThat(climb.threads()).isEqualTo(2);
    assertThat(tried).doesNotContain(8);
  }

  @Test
  void uselessPrefetchingStaysOffAtLittleCost() {
    run(2000, n -> 5, n -> 20);
    assertThat(climb.threads()).isZero();
    assertThat(climb.summary(prefetched)).isEqualTo("prefetching off (no measurable effect)");
    assertThat(tried.stream().filter(threads -> threads > 0).count()).isLessThan(30);
    assertThat(tried).allMatch(threads -> threads <= 2);
  }

  @Test
  void aJobThatDoesNotWaitIsNotChanged() {
    run(2000, n -> 5, n -> 0.1);
    assertThat(tried).containsOnly(0);
    assertThat(logged).isEmpty();
  }
}
