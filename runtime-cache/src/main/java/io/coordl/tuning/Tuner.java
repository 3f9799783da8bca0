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
 * <p><b>Keeping</b> begins once the job has waited for preparation in two windows in a row, and
 * goes on: what is not worth its memory is told by those who keep it.
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

  /** A part of the time that the job waits for preparation and that is worth a change. */
  static final double WORTH = 0.05;

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Supplier<JobStatisticsEvent> totals;
  private final LongSupplier clock;
  private final Consumer<TuningEvent> events;
  private final LongSupplier prefetched;
  private final ThreadClimb climb;
  private final boolean mayPrefetch;
  private volatile boolean keeps;
  private volatile long nextLook;

  private JobStatisticsEvent last = new JobStatisticsEvent();
  private int waited;

  /** Why keeping began, and the totals then; null before. */
  private @Nullable String reason;

  private JobStatisticsEvent before = new JobStatisticsEvent();

  /** The totals once what is kept was used in an epoch; null before. */
  private @Nullable JobStatisticsEvent settled;

  /**
   * Looks when it is asked.
   *
   * @param totals of the job so far
   * @param clock nanoseconds
   * @param keeps whether what is prepared is kept from the start; else once that is worth it
   * @param prefetched how many items and batches so far; null if prefetching is not to be tried
   * @param threads that prefetch at most
   * @param events hears of each change
   */
  public Tuner(
      Supplier<JobStatisticsEvent> totals,
      LongSupplier clock,
      boolean keeps,
      @Nullable LongSupplier prefetched,
      int threads,
      Consumer<TuningEvent> events) {
    this.totals = totals;
    this.clock = clock;
    this.keeps = keeps;
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
    if (reason != null && settled == null && now.epochs >= before.epochs + 2) {
      settled = now;
    }
    JobStatisticsEvent window = new JobStatisticsEvent();
    window.add(now);
    window.subtract(last);
    if (window.wall < WINDOW_NANOS || window.batches < BATCHES) {
      return;
    }
    last = now;
    if (!keeps) {
      waited = window.share(window.prepStall) >= WORTH ? waited + 1 : 0;
      if (waited == 2) {
        before = now;
        reason = waits(now);
        keeps = true;
        tell("what is prepared is kept", reason, window);
      }
    } else if (mayPrefetch) {
      String[] decided = climb.ended(window, prefetched.getAsLong());
      if (decided != null) {
        tell(decided[0], decided[1], window);
      }
    }
  }

  private void tell(String change, String why, Figures window) {
    TuningEvent event = new TuningEvent();
    event.change = change;
    event.reason = why;
    event.waiting = (float) window.share(window.prepStall);
    event.samplesPerSecond = window.samplesPerSecond();
    events.accept(event);
  }

  private static String waits(Figures figures) {
    return "the job waited for preparation "
        + Text.percent(figures.prepStall, figures.wall)
        + " of the time";
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
    JobStatisticsEvent after = new JobStatisticsEvent();
    after.add(now);
    after.subtract(settled == null ? before : settled);
    return "auto: kept what is prepared from "
        + Text.format("%.1f s on, since %s", before.wall / 1e9, reason)
        + prefetching()
        + (ThreadClimb.rate(before) == 0 || ThreadClimb.rate(after) == 0
            ? ""
            : Text.format(
                "; %.0f samples/s before, %.0f after (%.1f times)",
                before.samplesPerSecond(),
                after.samplesPerSecond(),
                ThreadClimb.rate(after) / ThreadClimb.rate(before)));
  }

  private String prefetching() {
    String said = climb.said();
    return said.isEmpty() || reason == null ? said : "; " + said;
  }
}
