package io.coordl.tuning;

import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.JobStatisticsEvent;
import org.jspecify.annotations.Nullable;

/**
 * Finds the fewest prefetching threads with which the job is fastest, by hill climbing over windows
 * of time. In a trial, windows with two numbers of threads alternate, so that other changes affect
 * both. The larger number wins only if it makes the job faster. A clear result ends the trial after
 * half of its windows, one that leaves no doubt after the first two. While the job still waits,
 * twice as many threads are tried; where the last doubling left no doubt, its last window stands
 * for the smaller number, so that 16 cores take five windows. From time to time, and as soon as the
 * steps themselves get slower (another job needs the core), half as many are tried. Used by one
 * thread at a time.
 */
final class ThreadClimb {
  /** Windows of a trial, half of them with each number of threads. */
  static final int TRIAL = 8;

  /** How much faster the job must be with more threads. */
  static final double GAIN = 1.02;

  /** Ratio of speeds that is clear after half of a trial. */
  static final double CLEAR = 1.15;

  /** Ratio of speeds that one window with each number of threads shows beyond doubt. */
  static final double EVIDENT = 1.4;

  /**
   * Windows until fewer threads are tried or, without prefetching, initially until it is tried
   * again.
   */
  static final int AGAIN = 60;

  /** How much slower steps must be, in two consecutive windows, to try fewer threads at once. */
  static final double SLOWER = 1.1;

  private static final int MAX_AGAIN = 16 * AGAIN;

  private final int maxThreads;
  private volatile int threads;
  private int chosen;
  private int candidate = 1;

  /** Windows of the current trial so far; -1 if there is none. */
  private int round = -1;

  private long prefetchedBefore;
  private Figures ofChosen = new JobStatisticsEvent();
  private Figures ofCandidate = new JobStatisticsEvent();
  private int untilTrial;
  private int pause = AGAIN;

  /**
   * Nanoseconds of a step with the threads chosen, and consecutive windows in which it took more.
   */
  private double step;

  private int slower;
  private double speed;

  /** Starts without threads, and never chooses more than {@code maxThreads}. */
  ThreadClimb(int maxThreads) {
    this.maxThreads = maxThreads;
  }

  /** Number of threads that should prefetch now; 0 turns prefetching off. */
  int threads() {
    return threads;
  }

  /**
   * A window has ended.
   *
   * @param prefetched items and batches prefetched so far
   * @return the decision and its reason, null without a decision
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
    int had = threads;
    (had == chosen ? ofChosen : ofCandidate).add(window);
    threads = had == chosen ? candidate : chosen;
    round++;
    boolean evident = round == 2 && differs(EVIDENT, prefetched);
    if (round < TRIAL && !evident && !(round == TRIAL / 2 && differs(CLEAR, prefetched))) {
      return null;
    }
    String[] decided = decide(prefetched);
    if (evident && round == 0 && candidate > chosen && had == chosen) {
      ofChosen.add(window);
      threads = candidate;
      round = 1;
    }
    return decided;
  }

  private boolean differs(double factor, long prefetched) {
    double ratio = rate(ofCandidate) / rate(ofChosen);
    return prefetched > prefetchedBefore && (ratio >= factor || ratio <= 1 / factor);
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
    pause = best > 0 ? AGAIN : Math.min(MAX_AGAIN, 2 * pause);
    untilTrial = pause;
    if (moved && !up && best > 0) {
      begin(best / 2, prefetched);
    } else if (moved == up && best > 0 && best < maxThreads && waits(best == more ? with : less)) {
      begin(Math.min(maxThreads, 2 * best), prefetched);
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

  /** Whether the job waits for anything that prefetching could provide. */
  private static boolean waits(Figures figures) {
    return figures.share(figures.dataStall()) >= Tuner.WORTH;
  }

  /** Batches per nanosecond, since their size may be unknown. */
  static double rate(Figures figures) {
    return figures.wall == 0 ? 0 : (double) figures.batches / figures.wall;
  }

  private static double step(Figures figures) {
    return figures.batches == 0 ? 0 : (double) (figures.wall - figures.stall) / figures.batches;
  }

  private static String number(int threads) {
    return threads == 1 ? "1 thread" : threads + " threads";
  }

  /** Result for the summary; empty if there is none. */
  String said() {
    return speed == 0
        ? ""
        : Text.format(
            "prefetching %s (%.2f times as fast with it)",
            chosen == 0 ? "off" : "on, " + number(chosen), speed);
  }
}
