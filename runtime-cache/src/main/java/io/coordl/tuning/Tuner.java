package io.coordl.tuning;

import io.coordl.telemetry.advice.Sentence;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.attribution.JobTotals;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.TuningEvent;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Switches policies while the job runs, based on its waits in consecutive windows of time.
 *
 * <p><b>Caching</b> begins in the first epoch, after the third batch at the earliest, as soon as
 * the job has waited for a fifth of a window, or fetching and preparing have taken {@link
 * #WORTHWHILE_WORK} of the cores' time. Otherwise it begins once, in two consecutive windows, the
 * job has waited for a twentieth of the time, or fetching and preparing have taken {@link
 * #WORTHWHILE_WORK} of the cores' time. It begins after the first batch if the job has waited
 * longer for that batch than it has computed. Cold code prepares that batch, so caching ends again
 * if the job then does not wait. Prepared samples are cached immediately. Raw and decoded items are
 * cached as soon as it is known that no samples can be, or else starting with the next epoch. The
 * stores decide which form is worth its memory. If the epochs that use cached data are no faster
 * and wait no less, all cached data is dropped.
 *
 * <p>The first decoded images are cached before any of this is known ({@link #triesImages}).
 *
 * <p><b>A job that does not train</b> (inference, feature extraction, a loader benchmarked alone)
 * is judged in the same way by the epochs of its loader. When a thread begins to train, measuring
 * starts over; data cached by then stays cached if the job uses it or waits.
 *
 * <p><b>Prefetching</b> begins without a trial if the job waits longer than it computes, and its
 * batches are long; for short ones, proving that it is safe may cost more than it gains. It is
 * tried while the job still waits, with more threads and with fewer ({@link ThreadClimb}).
 *
 * <p>No thread of its own; callers trigger a rate-limited check. Thread-safe.
 */
public final class Tuner {
  /** Minimum duration of a window. */
  static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Minimum duration of a short window ({@link ThreadClimb#isShort}). */
  static final long TRIAL_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** Minimum number of batches in a short window. */
  private static final int TRIAL_BATCHES = 4;

  /** Minimum number of batches in a window. */
  static final int BATCHES = 8;

  /**
   * Batches after a change of threads that count in no window, because nothing was prefetched for
   * them. Before anything has been prefetched, {@link #BATCHES} are left out instead, because the
   * code is cold.
   */
  private static final int SWITCHING = 2;

  /** The waits of a loader that has loaded fewer batches are not reported. */
  private static final int MIN_REPORTED_BATCHES = 16;

  /** Share of the time spent waiting for data that is worth a change. */
  static final double WORTH = 0.05;

  /** Share of the time spent waiting in the first epoch that makes caching begin immediately. */
  static final double WORTH_AT_ONCE = 0.2;

  /**
   * Share of the cores' time that fetching and preparing must take for caching to begin without
   * waits. A library that prepares ahead takes cores from the steps, and as long as cold code makes
   * steps slow, they hide what the job will wait for.
   */
  static final double WORTHWHILE_WORK = 0.15;

  /** Share of the time spent waiting that makes prefetching begin before it is tried. */
  private static final double WORTH_AHEAD = 0.5;

  /** Minimum wait for a batch that makes prefetching begin before it is tried. */
  static final long LONG_BATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /**
   * Minimum time to prepare a batch for which caching begins in a short job: in the first seconds,
   * when the code is cold, and later.
   */
  private static final long DEAR_COLD_NANOS = TimeUnit.MILLISECONDS.toNanos(12);

  private static final long DEAR_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long COLD_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

  /** From this time on, caching of cheaper batches may begin, too. */
  private static final long LONG_JOB_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final int CORES = Runtime.getRuntime().availableProcessors();
  private static final int BATCHES_AT_ONCE = 2;
  private static final long AT_ONCE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Windows with cached data before caching is judged. */
  static final int JUDGED = 4;

  /** Minimum time between two batches of a loader that counts as a step. */
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Minimum wait for the first batch that makes caching begin after it. */
  static final long LONG_FIRST_NANOS = JobTotals.LONG_LOAD_NANOS;

  private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Time between checks of the first batches. */
  private static final long FIRST_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Supplier<JobStatisticsEvent> totals;
  private final Supplier<JobStatisticsEvent> loading;
  private final LongSupplier clock;
  private final Consumer<TuningEvent> events;
  private final LongSupplier prefetched;
  private final ThreadClimb climb;
  private final boolean mayPrefetch;
  private final BooleanSupplier leavesSamples;
  private final LongSupplier used;
  private volatile boolean keeps;
  private volatile boolean keepsItems;
  private volatile boolean triesImages = true;
  private volatile long nextCheck;

  /** Whether the last check found no thread that trains. */
  private boolean loads;

  private JobStatisticsEvent last = new JobStatisticsEvent();

  /** Totals at the end of the last window in which prefetching was tried. */
  private JobStatisticsEvent lastTried = new JobStatisticsEvent();

  /** Batches to skip before the next window, because the number of threads has just changed. */
  private int skipped;

  /** 0 before cached data is used, 1 while only part of it is used, 2 once all of it is. */
  private int phase;

  /** The epoch in which cached data was first used. */
  private long firstUse;

  private int waitingWindows;

  /** Why caching began; null before. */
  private @Nullable String reason;

  /** Totals when caching began. */
  private JobStatisticsEvent begun = new JobStatisticsEvent();

  /** When caching began, in nanoseconds of the job. */
  private long begunAfter;

  /** Whether caching began before the job trained, or after one batch, and may not help it. */
  private boolean isProvisional;

  /** How often cached data had been used when the job began to train, or caching began. */
  private long usedBefore;

  /** How often cached data of another job of the group had been used when caching began. */
  private long usedAtBegin;

  /** Whether caching began provisionally, and ended because the job did not wait. */
  private boolean isUndone;

  /** Whether caching began near the start of the first epoch. */
  private boolean isEarly;

  /** The first epoch that caches everything that can be cached; 0 before. */
  private long filling;

  /** Totals before the job used cached data, without its first batch. */
  private JobStatisticsEvent before = new JobStatisticsEvent();

  /** Totals after the first batch, which is cold; null before. */
  private @Nullable JobStatisticsEvent warm;

  /** Totals at the last check. */
  private @Nullable JobStatisticsEvent lastTotals;

  /** Steps before the job used cached data. */
  private StepHistory uncachedSteps = new StepHistory();

  /** Steps that used cached data. */
  private StepHistory cachedSteps = new StepHistory();

  /** Totals at the start of the first epoch that uses all cached data; null before. */
  private @Nullable JobStatisticsEvent settled;

  private boolean isJudged;
  private boolean isDropped;

  /** Whether it has been decided whether threads start without a trial. */
  private boolean isStartDecided;

  /**
   * Creates a tuner, which does nothing until one of its methods is called.
   *
   * @param totals totals of the job so far; without wall time while no thread trains
   * @param loading figures of a loader while no thread trains; empty if there is none
   * @param keeps whether to cache from the start, rather than once it is worthwhile
   * @param leavesSamples whether no data set seen so far has samples that can be cached
   * @param used how often cached data was used so far
   * @param prefetched items and batches prefetched so far; null if prefetching must not be tried
   * @param threads maximum number of prefetching threads
   */
  public Tuner(
      Supplier<JobStatisticsEvent> totals,
      Supplier<JobStatisticsEvent> loading,
      LongSupplier clock,
      boolean keeps,
      BooleanSupplier leavesSamples,
      LongSupplier used,
      @Nullable LongSupplier prefetched,
      int threads,
      Consumer<TuningEvent> events) {
    this.totals = totals;
    this.loading = loading;
    this.clock = clock;
    this.keeps = keeps;
    this.keepsItems = keeps;
    this.leavesSamples = leavesSamples;
    this.used = used;
    this.prefetched = prefetched == null ? () -> 0 : prefetched;
    this.mayPrefetch = prefetched != null;
    this.climb = new ThreadClimb(threads);
    this.events = events;
    this.nextCheck = clock.getAsLong() + CHECK_NANOS;
  }

  /** Whether to cache and use prepared samples. */
  public boolean keeps() {
    check();
    return keeps;
  }

  /** Whether to cache and use raw and decoded items, too. */
  public boolean keepsItems() {
    check();
    return keepsItems;
  }

  /**
   * Whether to cache the first decoded images, before it is known whether the job waits for data: a
   * library that prepares ahead decodes many while the first step runs, and caching costs little
   * beside decoding. Ends after a few batches if the job does not wait; the images then stay in the
   * store, because a store that is freed cannot be used again.
   */
  public boolean triesImages() {
    check();
    return triesImages;
  }

  /** Returns the number of threads that should prefetch now; 0 turns prefetching off. */
  public int threads() {
    check();
    return climb.threads();
  }

  private void check() {
    long now = clock.getAsLong();
    if (now - nextCheck >= 0) {
      synchronized (this) {
        if (now - nextCheck >= 0) {
          nextCheck = now + CHECK_NANOS;
          evaluate(figures());
          nextCheck = now + (last.batches < BATCHES ? FIRST_CHECK_NANOS : CHECK_NANOS);
        }
      }
    }
  }

  /** Returns the totals of the job, or of its loader while no thread trains. */
  private JobStatisticsEvent figures() {
    JobStatisticsEvent trained = totals.get();
    if (trained.wall > 0 && loads) {
      restart(trained);
    }
    loads = trained.wall == 0;
    return loads ? loading.get() : trained;
  }

  /** Restarts measuring, because a job that only loaded data now trains. */
  private void restart(JobStatisticsEvent now) {
    warm = null;
    lastTotals = null;
    waitingWindows = 0;
    begun = now;
    before = new JobStatisticsEvent();
    settled = null;
    isJudged = reason != null; // There are no uncached steps to compare with.
    isProvisional = reason != null;
    usedBefore = used.getAsLong();
    isEarly = false; // The job may use cached data from now on.
    uncachedSteps = new StepHistory();
    cachedSteps = new StepHistory();
    phase = 0;
    restartThreads(now, false);
  }

  /** Drops what was cached provisionally, unless the job uses it, waits, or prepares much. */
  private void review(JobStatisticsEvent now, Figures window) {
    if (waitingWindows == 2 || used.getAsLong() > usedBefore || isWorkWorthwhile(window)) {
      isProvisional = false;
    } else if (waitingWindows == 0) {
      isProvisional = false;
      isUndone = true;
      triesImages = false;
      isJudged = false;
      reason = null;
      settled = null;
      filling = 0;
      phase = 0;
      stopKeeping(now, false);
      report(Sentence.DATA_DROPPED, describeWaits(window), window);
    }
  }

  private void stopKeeping(JobStatisticsEvent now, boolean keepsThreads) {
    keeps = false;
    keepsItems = false;
    restartThreads(now, keepsThreads);
  }

  private void restartThreads(JobStatisticsEvent now, boolean keepsThreads) {
    int threads = climb.threads();
    climb.restart(keepsThreads);
    lastTried = now;
    skipped = climb.threads() == threads ? 0 : BATCHES; // Some batches are already prefetched.
  }

  private void evaluate(JobStatisticsEvent now) {
    if (warm == null && now.batches > 0) {
      warm = now.batches < BATCHES ? now : new JobStatisticsEvent(); // The first batch is cold.
      last = warm;
    }
    if (reason != null && settled == null) {
      settle(now);
    }
    collect(now);
    JobStatisticsEvent window = since(last, now);
    boolean isFirst = isWorthAfterFirst(now);
    if (!keeps && reason == null && (isFirst || isWorthAtOnce(now, window))) {
      isEarly = true;
      isProvisional = isFirst;
      begin(now, isFirst ? now : window);
    }
    boolean isInVain = reason == null && window.batches >= BATCHES && waiting(window) < WORTH;
    triesImages &= now.plannedEpochs != 1 && now.epochs <= 1 && !isInVain;
    if (mayPrefetch && keeps && !isStartDecided) {
      startThreads(now);
    }
    if (mayPrefetch && (keeps || isDropped)) {
      tryThreads(now);
    }
    if (window.wall < WINDOW_NANOS || window.batches < BATCHES) {
      return;
    }
    last = now;
    boolean isWorthwhile = waiting(window) >= WORTH || isWorkWorthwhile(window);
    boolean waits =
        isWorthwhile
            && now.plannedEpochs != 1
            && (areDear(now, window) || now.wall >= LONG_JOB_NANOS);
    waitingWindows = waits ? waitingWindows + 1 : 0;
    if (isProvisional) {
      review(now, window);
    }
    judge(now, window);
    if (!keeps && !isDropped && waitingWindows == 2) {
      begin(now, window);
    }
  }

  /** Starts threads without a trial if the first batches after the cold one are worth it. */
  private void startThreads(JobStatisticsEvent now) {
    JobStatisticsEvent first = warm == null ? new JobStatisticsEvent() : since(warm, now);
    if (first.batches < BATCHES_AT_ONCE) {
      return;
    }
    isStartDecided = true;
    if (waiting(first) > WORTH_AHEAD && first.dataStall() >= first.batches * LONG_BATCH_NANOS) {
      climb.start(first, prefetched.getAsLong());
      lastTried = now;
      skipped = BATCHES;
    }
  }

  private void tryThreads(JobStatisticsEvent now) {
    if (phase == 0 && used.getAsLong() > usedBefore) {
      phase = 1;
      firstUse = now.epochs;
      // Without steps, prefetching can only split the work, and little of it is left.
      isJudged |= loads && climb.keepsThreads();
      restartThreads(now, !loads || ThreadClimb.step(since(begun, now)) >= STEP_NANOS);
    } else if (phase == 1 && now.epochs > firstUse && (reason == null || settled != null)) {
      phase = 2;
      restartThreads(now, true);
    }
    if (settled != null && !isJudged && climb.keepsThreads()) {
      lastTried = now; // Caching is judged first, with the threads that it began with.
      return;
    }
    boolean isShort = climb.isShort();
    JobStatisticsEvent window = since(lastTried, now);
    if (skipped > 0) {
      if (window.batches >= skipped) {
        skipped = 0;
        lastTried = now;
      }
    } else if (window.wall >= (isShort ? TRIAL_NANOS : WINDOW_NANOS)
        && window.batches >= (isShort ? TRIAL_BATCHES : BATCHES)) {
      int threads = climb.threads();
      long before = prefetched.getAsLong();
      lastTried = now;
      String[] decision = climb.ended(window, before);
      skipped = climb.threads() == threads ? 0 : before == 0 ? BATCHES : SWITCHING;
      if (decision != null) {
        report(decision[0], decision[1], window);
      }
    }
  }

  /** Adds the steps since the last check to {@link #uncachedSteps} or {@link #cachedSteps}. */
  private void collect(JobStatisticsEvent now) {
    JobStatisticsEvent earlier = lastTotals;
    if (warm == null) {
      return;
    }
    lastTotals = now;
    if (earlier == null) {
      return;
    }
    if (reason == null || isUncached(now)) {
      uncachedSteps.add(since(earlier, now));
    } else if (settled != null && settled != now && !isDropped) {
      cachedSteps.add(since(earlier, now));
    }
  }

  /** Whether caching began early in this epoch, and no cached data has been used since. */
  private boolean isUncached(JobStatisticsEvent now) {
    return isEarly && now.epochs == begun.epochs && used.getAsLong() == usedAtBegin;
  }

  /** Whether the wait for the first batch alone makes caching begin, once its step has ended. */
  private boolean isWorthAfterFirst(JobStatisticsEvent now) {
    return !isUndone
        && (loads ? now.batches == 2 : now.batches == 1 && now.compute > 0)
        && now.epochs <= 1
        && now.plannedEpochs != 1
        && now.dataStall() >= LONG_FIRST_NANOS
        && waiting(now) > WORTH_AHEAD;
  }

  private boolean isWorthAtOnce(JobStatisticsEvent now, Figures window) {
    return (loads || now.epochs <= 1) // The epochs of a short loader are counted late.
        && now.plannedEpochs != 1
        && window.batches >= BATCHES_AT_ONCE
        && window.wall >= AT_ONCE_NANOS
        && areDear(now, window)
        && (waiting(window) >= WORTH_AT_ONCE || isWorkWorthwhile(window));
  }

  /**
   * Whether preparing a batch takes so long that caching pays even in a short job, in which the
   * agent's code is cold, too.
   */
  private static boolean areDear(JobStatisticsEvent now, Figures window) {
    long least = now.wall < COLD_NANOS ? DEAR_COLD_NANOS : DEAR_NANOS;
    return Math.max(window.dataStall(), window.work()) >= least * window.batches;
  }

  private boolean isWorkWorthwhile(Figures window) {
    // Without a first batch that is left out, the work may include that of a pass before the epoch.
    return warm != null && warm.batches > 0 && window.share(workPerCore(window)) >= WORTHWHILE_WORK;
  }

  /** Returns the time of fetching and preparing, divided by the cores; at most the wall time. */
  private static long workPerCore(Figures figures) {
    return Math.min(figures.wall, (figures.work() - figures.prepCoreWait) / CORES);
  }

  private void begin(JobStatisticsEvent now, Figures window) {
    begun = now;
    begunAfter = now.wall;
    usedAtBegin = used.getAsLong();
    usedBefore = usedAtBegin;
    before = since(Objects.requireNonNull(warm), now);
    reason =
        isProvisional
            ? Sentence.WAITED_FIRST.with(Text.seconds(now.dataStall()))
            : waiting(window) >= WORTH ? describeWaits(before) : describeWork(before);
    keeps = true;
    settle(now);
    report(Sentence.DATA_KEPT, reason, window);
  }

  /** Finds the first epoch that uses all cached data: the one after everything was cached. */
  private void settle(JobStatisticsEvent now) {
    if (isUncached(now)) {
      before = since(Objects.requireNonNull(warm), now); // No cached data is used yet.
    }
    if (filling == 0 && (now.epochs > begun.epochs || leavesSamples.getAsBoolean())) {
      keepsItems = true;
      filling = isEarly ? now.epochs : Math.max(now.epochs, begun.epochs + 1);
    }
    if (filling > 0 && now.epochs > filling) {
      settled = now;
    }
  }

  /** Decides whether caching pays off, once there is enough evidence. */
  private void judge(JobStatisticsEvent now, Figures window) {
    if (isJudged || settled == null) {
      return;
    }
    JobStatisticsEvent after = since(settled, now);
    if (after.wall < JUDGED * WINDOW_NANOS || after.batches < JUDGED * BATCHES) {
      return;
    }
    isJudged = true;
    isDropped =
        ThreadClimb.rate(after) < ThreadClimb.GAIN * ThreadClimb.rate(before)
            && ThreadClimb.GAIN * waitOfBatch(after) > waitOfBatch(before);
    if (isDropped) {
      stopKeeping(now, true);
    }
    report(isDropped ? Sentence.DATA_DROPPED : Sentence.DATA_USED, describeEffect(), window);
  }

  private static JobStatisticsEvent since(Figures earlier, Figures now) {
    JobStatisticsEvent since = new JobStatisticsEvent();
    since.add(now);
    since.subtract(earlier);
    return since;
  }

  private static double waiting(Figures figures) {
    return figures.share(figures.dataStall());
  }

  private static double waitOfBatch(Figures figures) {
    // Windows differ in the number of epochs that begin in them.
    return (double) (figures.dataStall() - figures.dataSetStall) / Math.max(1, figures.batches);
  }

  /** Describes the effect of caching. */
  private String describeEffect() {
    Figures settledAt = settled == null ? begun : settled;
    Figures untilUse = isEarly ? StepHistory.sum(uncachedSteps.all()) : begun;
    Effect effect =
        Effect.of(
            uncachedSteps.all(),
            cachedSteps.all(),
            Math.max(0, settledAt.batches - untilUse.batches),
            CORES);
    return (used.getAsLong() == 0 ? effect.none() : effect).summary();
  }

  private void report(Sentence change, String why, Figures window) {
    report(change.with(), why, window);
  }

  private void report(String change, String why, Figures window) {
    TuningEvent event = new TuningEvent();
    event.change = change;
    event.reason = why;
    event.waiting = waiting(window);
    event.samplesPerSecond = window.samplesPerSecond();
    events.accept(event);
  }

  private static String describeWaits(Figures figures) {
    return Sentence.WAITED.with(
        Text.percent(figures.prepStall, figures.wall),
        Text.percent(figures.fetchStall, figures.wall));
  }

  private static String describeWork(Figures figures) {
    return Sentence.WORKED.with(Text.percent(workPerCore(figures), figures.wall));
  }

  /** Describes the changes and their effect, for the summary. */
  public synchronized String summary() {
    JobStatisticsEvent now = figures();
    String threads = climb.summary(prefetched.getAsLong());
    if (reason == null) {
      return keeps
          ? threads
          : (isUndone
                  ? Sentence.SWITCHED_BACK
                  : used.getAsLong() > 0 ? Sentence.NOTHING_ELSE_SWITCHED : Sentence.NOT_SWITCHED)
              .with(
                  now.wall > 0 && (!loads || now.batches >= MIN_REPORTED_BATCHES)
                      ? describeWaits(now)
                      : (totals.get().loadedBatches == 0 ? Sentence.NO_BATCH : Sentence.FEW_LOADED)
                          .with());
    }
    collect(now);
    String dropped = isDropped ? Sentence.DROPPED.with() : "";
    String prefetching = threads.isEmpty() ? "" : "; " + threads;
    if (used.getAsLong() == 0) {
      return Sentence.KEPT_IN_VAIN.with(begunAfter / 1e9, reason, dropped, prefetching);
    }
    return Sentence.KEPT.with(
        begunAfter / 1e9,
        reason,
        dropped,
        prefetching,
        cachedSteps.all().isEmpty() || uncachedSteps.all().isEmpty()
            ? ""
            : "; " + describeEffect());
  }
}
