package io.coordl.tuning;

import io.coordl.telemetry.advice.CoreLaw;
import io.coordl.telemetry.advice.Text;
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
 * <p><b>Keeping</b> begins with the third batch of the first epoch if the job waited for much of
 * the second and third; else once it has waited in two consecutive windows. Prepared samples are
 * kept at once. Raw and decoded items are kept as soon as it is known that no samples are, or else
 * from the next epoch on. The stores decide which form is worth its memory. If the job is no faster
 * and waits no less in the epochs that use the kept data, all of it is dropped. Nothing is kept for
 * a job that has planned one epoch.
 *
 * <p><b>A job that trains nothing</b> (inference, feature extraction, a loader that is timed alone)
 * is judged in the same way by the passes of its loader. Once a thread trains, the figures begin
 * anew; what is kept by then stays.
 *
 * <p><b>Prefetching</b> is tried while the job still waits, with more threads and with fewer
 * ({@link ThreadClimb}).
 *
 * <p>No thread of its own; callers trigger a rate-limited check. Thread-safe.
 */
public final class Tuner {
  /** Minimum duration of a window. */
  static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Minimum number of batches in a window. */
  static final int BATCHES = 8;

  /** Share of the time spent waiting for data that is worth a change. */
  static final double WORTH = 0.05;

  /** Share of the second and third batch spent waiting, from which on keeping begins at once. */
  static final double WORTH_AT_ONCE = 0.2;

  private static final int BATCHES_AT_ONCE = 2;
  private static final long AT_ONCE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Windows that use kept data before keeping is judged. */
  static final int JUDGED = 4;

  private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Supplier<JobStatisticsEvent> totals;
  private final Supplier<JobStatisticsEvent> loading;
  private final LongSupplier clock;
  private final Consumer<TuningEvent> events;
  private final LongSupplier prefetched;
  private final ThreadClimb climb;
  private final boolean mayPrefetch;
  private final BooleanSupplier leavesSamples;
  private volatile boolean keeps;
  private volatile boolean keepsItems;
  private volatile long nextLook;

  /** Whether the last look found no thread that trains. */
  private boolean loads;

  private JobStatisticsEvent last = new JobStatisticsEvent();
  private int waited;

  /** Why keeping began; null before. Below, the totals at that time. */
  private @Nullable String reason;

  private JobStatisticsEvent begun = new JobStatisticsEvent();

  /** Whether that was near the beginning of the first epoch. */
  private boolean isEarly;

  /** The first epoch in which everything to be kept is kept; 0 before. */
  private long filling;

  /** Totals before the job used kept data, without its first batch. */
  private JobStatisticsEvent before = new JobStatisticsEvent();

  private @Nullable JobStatisticsEvent warm;

  /** The totals once an epoch has used the kept data; null before. */
  private @Nullable JobStatisticsEvent settled;

  private boolean isJudged;
  private boolean isDropped;

  /**
   * Nothing happens until the first call.
   *
   * @param totals of the job so far; without wall time while no thread trains
   * @param loading figures of a loader while no thread trains; empty if there is none
   * @param keeps whether prepared samples are kept from the start, rather than once that is worth
   *     it
   * @param leavesSamples whether no data set seen so far has samples that can be kept
   * @param prefetched items and batches prefetched so far; null if prefetching must not be tried
   * @param threads maximum number of prefetching threads
   */
  public Tuner(
      Supplier<JobStatisticsEvent> totals,
      Supplier<JobStatisticsEvent> loading,
      LongSupplier clock,
      boolean keeps,
      BooleanSupplier leavesSamples,
      @Nullable LongSupplier prefetched,
      int threads,
      Consumer<TuningEvent> events) {
    this.totals = totals;
    this.loading = loading;
    this.clock = clock;
    this.keeps = keeps;
    this.keepsItems = keeps;
    this.leavesSamples = leavesSamples;
    this.prefetched = prefetched == null ? () -> 0 : prefetched;
    this.mayPrefetch = prefetched != null;
    this.climb = new ThreadClimb(threads);
    this.events = events;
    this.nextLook = clock.getAsLong() + CHECK_NANOS;
  }

  /** Whether to keep and use prepared samples. */
  public boolean keeps() {
    look();
    return keeps;
  }

  /** Whether to keep and use items, too. */
  public boolean keepsItems() {
    look();
    return keepsItems;
  }

  /** Number of threads that should prefetch now; 0 turns prefetching off. */
  public int threads() {
    look();
    return climb.threads();
  }

  private void look() {
    long now = clock.getAsLong();
    if (now - nextLook >= 0) {
      synchronized (this) {
        if (now - nextLook >= 0) {
          nextLook = now + CHECK_NANOS;
          JobStatisticsEvent trained = totals.get();
          if (trained.wall > 0 && loads) {
            beginAnew(trained);
          }
          loads = trained.wall == 0;
          evaluate(loads ? loading.get() : trained);
        }
      }
    }
  }

  /** A job that has only loaded begins to train: its figures so far are of something else. */
  private void beginAnew(JobStatisticsEvent now) {
    warm = null;
    waited = 0;
    begun = now;
    before = new JobStatisticsEvent();
    settled = null;
    isJudged = reason != null;
  }

  private void evaluate(JobStatisticsEvent now) {
    if (warm == null && now.batches > 0) {
      warm = now.batches < BATCHES ? now : new JobStatisticsEvent(); // The first batch is cold.
      last = warm;
    }
    if (reason != null && settled == null) {
      settle(now);
    }
    JobStatisticsEvent window = since(last, now);
    if (!keeps && reason == null && isWorthAtOnce(now, window)) {
      isEarly = true;
      begin(now, window);
    }
    if (window.wall < WINDOW_NANOS || window.batches < BATCHES) {
      return;
    }
    last = now;
    boolean waits = waiting(window) >= WORTH;
    judge(now, window);
    if (!keeps && !isDropped) {
      waited = waits && now.plannedEpochs != 1 ? waited + 1 : 0;
      if (waited == 2) {
        begin(now, window);
      }
    } else if (mayPrefetch) {
      String[] decided = climb.ended(window, prefetched.getAsLong());
      if (decided != null) {
        tell(decided[0], decided[1], window);
      }
    }
  }

  private boolean isWorthAtOnce(JobStatisticsEvent now, Figures window) {
    return (loads || now.epochs <= 1) // The passes of a short loader show late.
        && now.plannedEpochs != 1
        && window.batches >= BATCHES_AT_ONCE
        && window.wall >= AT_ONCE_NANOS
        && waiting(window) >= WORTH_AT_ONCE;
  }

  private void begin(JobStatisticsEvent now, Figures window) {
    begun = now;
    before = since(Objects.requireNonNull(warm), now);
    reason = waits(before);
    keeps = true;
    settle(now);
    tell("read and prepared data is kept", reason, window);
  }

  /** The epoch after the one in which all is kept uses it. */
  private void settle(JobStatisticsEvent now) {
    if (isEarly && now.epochs == begun.epochs) {
      before = since(Objects.requireNonNull(warm), now); // Nothing is used yet.
    }
    if (filling == 0 && (now.epochs > begun.epochs || leavesSamples.getAsBoolean())) {
      keepsItems = true;
      filling = isEarly ? now.epochs : Math.max(now.epochs, begun.epochs + 1);
    }
    if (filling > 0 && now.epochs > filling) {
      settled = now;
    }
  }

  /** Decides whether keeping pays, once there is enough evidence. */
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
      keeps = false;
      keepsItems = false;
    }
    tell(isDropped ? "kept data is dropped" : "kept data is used", brought(after), window);
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
    return (double) figures.dataStall() / Math.max(1, figures.batches);
  }

  /**
   * Describes the effect of keeping. A job also becomes faster because it warms up, so only the
   * part that the removed waits and work can explain counts.
   */
  private String brought(Figures after) {
    double observed = ThreadClimb.rate(after) / ThreadClimb.rate(before);
    double like = (double) before.batches / Math.max(1, after.batches);
    double explained =
        new CoreLaw(before, Runtime.getRuntime().availableProcessors())
            .gain(
                Math.round(work(before) - like * work(after)),
                Math.round(before.stall - like * after.stall));
    String speeds =
        Text.format(
            "%.0f samples/s before, %.0f after",
            before.samplesPerSecond(), after.samplesPerSecond());
    double gain = Math.min(observed, explained);
    return gain < ThreadClimb.GAIN
        ? speeds + ": no effect of it measured"
        : gain < observed / ThreadClimb.GAIN
            ? speeds
                + Text.format(
                    "; at most %.1f times by that, the rest is the job's own warm-up", gain)
            : speeds + Text.format(" (%.1f times)", gain);
  }

  /** Self time of fetching and preparing. */
  private static double work(Figures figures) {
    return (double) figures.fetchTime + figures.prepTime();
  }

  private void tell(String change, String why, Figures window) {
    TuningEvent event = new TuningEvent();
    event.change = change;
    event.reason = why;
    event.waiting = waiting(window);
    event.samplesPerSecond = window.samplesPerSecond();
    events.accept(event);
  }

  private static String waits(Figures figures) {
    return "the job waited for preparation "
        + Text.percent(figures.prepStall, figures.wall)
        + " of the time and for fetches "
        + Text.percent(figures.fetchStall, figures.wall);
  }

  /** Describes the changes and their effect, for the summary. */
  public synchronized String said() {
    JobStatisticsEvent trained = totals.get();
    JobStatisticsEvent now = trained.wall == 0 ? loading.get() : trained;
    if (reason == null) {
      return keeps
          ? prefetching()
          : "auto: nothing was switched on, "
              + (now.wall == 0 ? "no training batch was seen" : waits(now));
    }
    JobStatisticsEvent after = since(settled == null ? begun : settled, now);
    return "auto: kept read and prepared data from "
        + Text.format("%.1f s on, because %s", begun.wall / 1e9, reason)
        + (isDropped ? "; dropped it, because the job was no faster and waited no less" : "")
        + prefetching()
        + (ThreadClimb.rate(before) == 0 || ThreadClimb.rate(after) == 0
            ? ""
            : "; " + brought(after));
  }

  private String prefetching() {
    String report = climb.said();
    return report.isEmpty() || reason == null ? report : "; " + report;
  }
}
