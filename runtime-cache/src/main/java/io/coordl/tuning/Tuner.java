package io.coordl.tuning;

import io.coordl.advice.Text;
import io.coordl.event.Figures;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.event.TuningEvent;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Switches policies while the job runs, by what it waits for in one window of time after the other.
 *
 * <p><b>Keeping</b> begins with the third batch of the first epoch if the job waited for much of
 * the second and third; else once it has waited in two windows in a row. Prepared samples are kept
 * at once. Items, as they are or decoded, are kept as soon as it is known that no samples are, or
 * else from the next epoch on. Those who keep a form decide whether it is worth its memory. If the
 * job is no faster and waits no less in the epochs that use what is kept, all is dropped. Nothing
 * is kept for a job that has planned one epoch.
 *
 * <p><b>Prefetching</b> is tried where the job still waits, with more threads and with fewer
 * ({@link ThreadClimb}).
 *
 * <p>There is no thread: whoever asks looks, at most once in a while. Thread-safe.
 */
public final class Tuner {
  /** A window takes at least so long. */
  static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** And has at least so many batches. */
  static final int BATCHES = 8;

  /** A part of the time that the job waits for data and that is worth a change. */
  static final double WORTH = 0.05;

  /** The job waits so much of its second and third batch that keeping begins at once. */
  static final double WORTH_AT_ONCE = 0.2;

  private static final int BATCHES_AT_ONCE = 2;
  private static final long AT_ONCE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Windows that use what is kept, after which it is told whether that pays. */
  static final int JUDGED = 4;

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Supplier<JobStatisticsEvent> totals;
  private final LongSupplier clock;
  private final Consumer<TuningEvent> events;
  private final LongSupplier prefetched;
  private final ThreadClimb climb;
  private final boolean mayPrefetch;
  private final BooleanSupplier leavesSamples;
  private volatile boolean keeps;
  private volatile boolean keepsItems;
  private volatile long nextLook;

  private JobStatisticsEvent last = new JobStatisticsEvent();
  private int waited;

  /** Why keeping began, and the totals then; null before. */
  private @Nullable String reason;

  private JobStatisticsEvent begun = new JobStatisticsEvent();

  /** Whether that was near the beginning of the first epoch. */
  private boolean isEarly;

  /** The first epoch in which all that is to be kept is kept; 0 before. */
  private long filling;

  /** What the job did before it used what is kept, but for its first batch. */
  private JobStatisticsEvent before = new JobStatisticsEvent();

  private @Nullable JobStatisticsEvent warm;

  /** The totals once what is kept was used in an epoch; null before. */
  private @Nullable JobStatisticsEvent settled;

  private boolean isJudged;
  private boolean isDropped;

  /**
   * Looks when it is asked.
   *
   * @param totals of the job so far
   * @param keeps whether what is prepared is kept from the start; else once that is worth it
   * @param leavesSamples whether no samples can be kept, as is known of all data sets seen so far
   * @param prefetched how many items and batches so far; null if prefetching is not to be tried
   * @param threads that prefetch at most
   */
  public Tuner(
      Supplier<JobStatisticsEvent> totals,
      LongSupplier clock,
      boolean keeps,
      BooleanSupplier leavesSamples,
      @Nullable LongSupplier prefetched,
      int threads,
      Consumer<TuningEvent> events) {
    this.totals = totals;
    this.clock = clock;
    this.keeps = keeps;
    this.keepsItems = keeps;
    this.leavesSamples = leavesSamples;
    this.prefetched = prefetched == null ? () -> 0 : prefetched;
    this.mayPrefetch = prefetched != null;
    this.climb = new ThreadClimb(threads);
    this.events = events;
    this.nextLook = clock.getAsLong() + LOOK_NANOS;
  }

  /** Whether what is prepared is to be kept, and used. */
  public boolean keeps() {
    look();
    return keeps;
  }

  /** Whether items are to be kept too, and used. */
  public boolean keepsItems() {
    look();
    return keepsItems;
  }

  /** How many threads are to prefetch; 0: nothing is to be prefetched now. */
  public int threads() {
    look();
    return climb.threads();
  }

  private void look() {
    long now = clock.getAsLong();
    if (now - nextLook >= 0) {
      synchronized (this) {
        if (now - nextLook >= 0) {
          nextLook = now + LOOK_NANOS;
          evaluate(totals.get());
        }
      }
    }
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

  private static boolean isWorthAtOnce(JobStatisticsEvent now, Figures window) {
    return now.epochs <= 1
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
    tell("what is read and prepared is kept", reason, window);
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

  /** Once there is enough to tell: whether what is kept pays. */
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
    tell(isDropped ? "what was kept is dropped" : "what is kept is used", brought(after), window);
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

  private String brought(Figures after) {
    return Text.format(
        "%.0f samples/s before, %.0f after (%.1f times)",
        before.samplesPerSecond(),
        after.samplesPerSecond(),
        ThreadClimb.rate(after) / ThreadClimb.rate(before));
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

  /** What was done and what it brought, for the summary. */
  public synchronized String said() {
    JobStatisticsEvent now = totals.get();
    if (reason == null) {
      return keeps
          ? prefetching()
          : "auto: nothing was switched on, "
              + (now.wall == 0 ? "no batch was seen to be trained on" : waits(now));
    }
    JobStatisticsEvent after = since(settled == null ? begun : settled, now);
    return "auto: kept what is read and prepared from "
        + Text.format("%.1f s on, since %s", begun.wall / 1e9, reason)
        + (isDropped ? "; dropped it, since the job was no faster and waited no less" : "")
        + prefetching()
        + (ThreadClimb.rate(before) == 0 || ThreadClimb.rate(after) == 0
            ? ""
            : "; " + brought(after));
  }

  private String prefetching() {
    String said = climb.said();
    return said.isEmpty() || reason == null ? said : "; " + said;
  }
}
