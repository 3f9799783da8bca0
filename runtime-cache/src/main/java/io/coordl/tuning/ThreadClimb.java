package io.coordl.tuning;

import io.coordl.advice.Text;
import io.coordl.event.Figures;
import io.coordl.event.JobStatisticsEvent;
import org.jspecify.annotations.Nullable;

/**
 * How many threads prefetch: the fewest with which the job is fastest, found by hill climbing over
 * windows of time. In a trial windows with two numbers of threads take turns, so that what else
 * changes meanwhile counts for both; the larger one must make the job faster, else the smaller one
 * stays. What is clear after half of the windows is decided then. While the job still waits, twice
 * as many are tried; from time to time, and as soon as the steps themselves get slower (another job
 * needs the core), half as many. Used by one thread at a time.
 */
final class ThreadClimb {
  /** Windows of a trial, half of them with either number. */
  static final int TRIAL = 8;

  /** How much faster the job must be with more threads. */
  static final double GAIN = 1.02;

  /** How many times as fast or as slow is clear after half of a trial. */
  static final double CLEAR = 1.15;

  /** Windows until fewer are tried, if any are worth it, and at first until one is, if not. */
  static final int AGAIN = 60;

  /** How much slower steps, in two windows in a row, are a reason to try fewer at once. */
  static final double SLOWER = 1.1;

  private static final int MOST_AGAIN = 16 * AGAIN;

  private final int most;
  private volatile int threads;
  private int chosen;
  private int candidate = 1;

  /** Windows of the trial that goes on so far; -1 if none does. */
  private int round = -1;

  private long prefetchedBefore;
  private Figures ofChosen = new JobStatisticsEvent();
  private Figures ofCandidate = new JobStatisticsEvent();
  private int untilTrial;
  private int pause = AGAIN;

  /** Nanoseconds of a step with the threads chosen, and windows in a row in which it took more. */
  private double step;

  private int slower;
  private double speed;

  /** None at first, and at most so many. */
  ThreadClimb(int most) {
    this.most = most;
  }

  /** How many are to prefetch now; 0: nothing is to be prefetched. */
  int threads() {
    return threads;
  }

  /**
   * A window has ended.
   *
   * @param prefetched how many items and batches so far
   * @return what was decided and why, null if nothing was
   */
  String @Nullable [] ended(Figures window, long prefetched) {
    if (round < 0) {
      untilTrial--;
      slower = chosen > 0 && step(window) > SLOWER * step ? slower + 1 : 0;
      if (chosen > 0 ? untilTrial < 0 || slower == 2 : untilTrial < 0 && waits(window)) {
        begin(chosen > 0 ? chosen / 2 : 1, prefetched);
      }
      return null;
    }
    (threads == chosen ? ofChosen : ofCandidate).add(window);
    threads = threads == chosen ? candidate : chosen;
    round++;
    return round == TRIAL || (round == TRIAL / 2 && isClear(prefetched))
        ? decide(prefetched)
        : null;
  }

  private boolean isClear(long prefetched) {
    double ratio = rate(ofCandidate) / rate(ofChosen);
    return prefetched > prefetchedBefore && (ratio >= CLEAR || ratio <= 1 / CLEAR);
  }

  private void begin(int other, long prefetched) {
    round = 0;
    slower = 0;
    candidate = other;
    prefetchedBefore = prefetched;
    ofChosen = new JobStatisticsEvent();
    ofCandidate = new JobStatisticsEvent();
  }

  private String @Nullable [] decide(long prefetched) {
    int windows = round;
    round = -1;
    boolean up = candidate > chosen;
    int fewer = Math.min(chosen, candidate);
    int more = Math.max(chosen, candidate);
    Figures less = up ? ofChosen : ofCandidate;
    Figures with = up ? ofCandidate : ofChosen;
    boolean did = prefetched > prefetchedBefore;
    double gain = !did || rate(less) == 0 ? 0 : rate(with) / rate(less);
    int best = gain >= GAIN ? more : fewer;
    boolean moved = best != chosen;
    if (fewer == 0) {
      speed = gain;
    } else if (moved) {
      speed = up ? speed * gain : speed / Math.max(gain, Double.MIN_NORMAL);
    }
    chosen = best;
    threads = best;
    step = step(best == more ? with : less);
    pause = best > 0 ? AGAIN : Math.min(MOST_AGAIN, 2 * pause);
    untilTrial = pause;
    if (moved && !up && best > 0) {
      begin(best / 2, prefetched);
    } else if (moved == up && best > 0 && best < most && waits(best == more ? with : less)) {
      begin(Math.min(most, 2 * best), prefetched);
    }
    return !did
        ? null
        : new String[] {
          best == 0 ? "prefetching is off" : "prefetching is on, " + number(best),
          Text.format(
              "the job was %.2f times as fast with %s as with %s, and a step took %.2f times as"
                  + " long, in %d windows",
              gain,
              number(more),
              fewer == 0 ? "none" : String.valueOf(fewer),
              step(less) == 0 ? 1 : step(with) / step(less),
              windows)
        };
  }

  /** Whether it does, for what prefetching may bring. */
  private static boolean waits(Figures figures) {
    return figures.share(figures.dataStall()) >= Tuner.WORTH;
  }

  /** Batches, since their size need not be known. */
  static double rate(Figures figures) {
    return figures.wall == 0 ? 0 : (double) figures.batches / figures.wall;
  }

  private static double step(Figures figures) {
    return figures.batches == 0 ? 0 : (double) (figures.wall - figures.stall) / figures.batches;
  }

  private static String number(int threads) {
    return threads == 1 ? "1 thread" : threads + " threads";
  }

  /** What was found out, for the summary; empty if nothing was. */
  String said() {
    return speed == 0
        ? ""
        : Text.format(
            "prefetching %s (%.2f times as fast with it)",
            chosen == 0 ? "off" : "on, " + number(chosen), speed);
  }
}
