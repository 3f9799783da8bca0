package io.coordl.tuning;

import io.coordl.advice.Text;
import io.coordl.event.Figures;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.event.TuningEvent;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Switches policies while the job runs, by what it waits for in one window of time after the other.
 *
 * <p><b>Keeping</b> begins once the job has waited for data in two windows in a row: what is
 * prepared at once, items as they are or decoded with the next epoch, since by then it is known of
 * which data sets samples are kept. What form is worth its memory is told by those who keep it. If
 * the job is no faster and waits no less in the epochs that use what is kept, all is dropped.
 *
 * <p><b>Prefetching</b> is tried where the job still waits: windows with and without take turns, so
 * that what else changes meanwhile counts for both, and it stays on if the job was faster with it.
 * That is asked again from time to time, sooner where the answer was yes: another job may need the
 * core by then.
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

  /** Windows of a trial, half of them with prefetching. */
  static final int TRIAL = 8;

  /** How much faster the job must be with it. */
  static final double GAIN = 1.02;

  /** Windows that use what is kept, after which it is told whether that pays. */
  static final int JUDGED = 4;

  /** Windows until it is tried again, if it was worth it, and at first if it was not. */
  static final int AGAIN = 60;

  private static final int MOST_AGAIN = 16 * AGAIN;
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Supplier<JobStatisticsEvent> totals;
  private final LongSupplier clock;
  private final Consumer<TuningEvent> events;
  private final LongSupplier prefetched;
  private final boolean mayPrefetch;
  private volatile boolean keeps;
  private volatile boolean keepsItems;
  private volatile boolean prefetches;
  private volatile long nextLook;

  private JobStatisticsEvent last = new JobStatisticsEvent();
  private int waited;

  /** Why keeping began, and the totals then; null before. */
  private @Nullable String reason;

  private JobStatisticsEvent before = new JobStatisticsEvent();

  /** The totals once what is kept was used in an epoch; null before. */
  private @Nullable JobStatisticsEvent settled;

  private boolean isJudged;
  private boolean isDropped;

  /** Windows of the trial that goes on so far; -1 if none does. */
  private int round = -1;

  private long prefetchedBefore;
  private Figures with = new JobStatisticsEvent();
  private Figures without = new JobStatisticsEvent();
  private int untilTrial;
  private int pause = AGAIN;
  private double gain;

  /**
   * Looks when it is asked.
   *
   * @param totals of the job so far
   * @param clock nanoseconds
   * @param keeps whether what is prepared is kept from the start; else once that is worth it
   * @param prefetched how many items and batches so far; null if prefetching is not to be tried
   * @param events hears of each change
   */
  public Tuner(
      Supplier<JobStatisticsEvent> totals,
      LongSupplier clock,
      boolean keeps,
      @Nullable LongSupplier prefetched,
      Consumer<TuningEvent> events) {
    this.totals = totals;
    this.clock = clock;
    this.keeps = keeps;
    this.keepsItems = keeps;
    this.prefetched = prefetched == null ? () -> 0 : prefetched;
    this.mayPrefetch = prefetched != null;
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

  /** Whether to prefetch. */
  public boolean prefetches() {
    look();
    return prefetches;
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
    if (reason != null && settled == null && now.epochs >= before.epochs + 2) {
      settled = now;
    }
    keepsItems |= keeps && now.epochs > before.epochs;
    JobStatisticsEvent window = since(last, now);
    if (window.wall < WINDOW_NANOS || window.batches < BATCHES) {
      return;
    }
    last = now;
    boolean waits = waiting(window) >= WORTH;
    judge(now, window);
    if (!keeps && !isDropped) {
      waited = waits ? waited + 1 : 0;
      if (waited == 2) {
        before = now;
        reason = waits(now);
        keeps = true;
        tell("what is read and prepared is kept", reason, window);
      }
    } else if (mayPrefetch && round < 0) {
      untilTrial--;
      if (untilTrial < 0 && (waits || prefetches)) {
        round = 0;
        prefetchedBefore = prefetched.getAsLong();
        with = new JobStatisticsEvent();
        without = new JobStatisticsEvent();
      }
    } else if (mayPrefetch) {
      (prefetches ? with : without).add(window);
      round++;
      prefetches = !prefetches;
      if (round == TRIAL) {
        decide(window);
      }
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
        rate(after) < GAIN * rate(before) && GAIN * waitOfBatch(after) > waitOfBatch(before);
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
    return figures.share(figures.fetchStall + figures.prepStall);
  }

  private static double waitOfBatch(Figures figures) {
    return (double) (figures.fetchStall + figures.prepStall) / Math.max(1, figures.batches);
  }

  private String brought(Figures after) {
    return Text.format(
        "%.0f samples/s before, %.0f after (%.1f times)",
        before.samplesPerSecond(), after.samplesPerSecond(), rate(after) / rate(before));
  }

  private void decide(Figures window) {
    round = -1;
    boolean did = prefetched.getAsLong() > prefetchedBefore;
    gain = !did || rate(without) == 0 ? 0 : rate(with) / rate(without);
    prefetches = gain >= GAIN;
    pause = prefetches ? AGAIN : Math.min(MOST_AGAIN, 2 * pause);
    untilTrial = pause;
    if (!did) {
      return;
    }
    tell(
        prefetches ? "prefetching is on" : "prefetching is off",
        Text.format("the job was %.2f times as fast with it, in %d windows", gain, TRIAL),
        window);
  }

  /** Batches, since their size need not be known. */
  private static double rate(Figures figures) {
    return figures.wall == 0 ? 0 : (double) figures.batches / figures.wall;
  }

  private void tell(String change, String why, Figures window) {
    TuningEvent event = new TuningEvent();
    event.change = change;
    event.reason = why;
    event.waiting = (float) waiting(window);
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
    JobStatisticsEvent after = since(settled == null ? before : settled, now);
    return "auto: kept what is read and prepared from "
        + Text.format("%.1f s on, since %s", before.wall / 1e9, reason)
        + (isDropped ? "; dropped it, since the job was no faster and waited no less" : "")
        + prefetching()
        + (rate(before) == 0 || rate(after) == 0 ? "" : "; " + brought(after));
  }

  private String prefetching() {
    return gain == 0
        ? ""
        : Text.format(
            "%sprefetching %s (%.2f times as fast with it)",
            reason == null && keeps ? "" : "; ", prefetches ? "on" : "off", gain);
  }
}
