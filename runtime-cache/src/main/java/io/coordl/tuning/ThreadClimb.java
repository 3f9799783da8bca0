package io.coordl.tuning;

import io.coordl.telemetry.advice.Sentence;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.steps.Ratio;
import java.util.ArrayList;
import java.util.List;
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
  private List<Figures> ofChosen = new ArrayList<>();
  private List<Figures> ofCandidate = new ArrayList<>();
  private int untilTrial;
  private int pause = AGAIN;

  /**
   * Nanoseconds of a step with the threads chosen, and consecutive windows in which it took more.
   */
  private double step;

  private int slower;

  /** How many times as fast the job is with the threads chosen as without any; null if unknown. */
  private @Nullable Ratio speed;

  /** Whether {@link #speed} comes in part from trials of two windows, which show no range. */
  private boolean isRough;

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
    double ratio = rate(Pieces.sum(ofCandidate)) / rate(Pieces.sum(ofChosen));
    return prefetched > prefetchedBefore && (ratio >= factor || ratio <= 1 / factor);
  }

  private void begin(int other, long prefetched) {
    round = 0;
    slower = 0;
    candidate = other;
    prefetchedBefore = prefetched;
    ofChosen = new ArrayList<>();
    ofCandidate = new ArrayList<>();
  }

  private String @Nullable [] decide(long prefetched) {
    int windows = round;
    round = -1;
    boolean up = candidate > chosen;
    int fewer = Math.min(chosen, candidate);
    int more = Math.max(chosen, candidate);
    List<Figures> windowsWithLess = up ? ofChosen : ofCandidate;
    List<Figures> windowsWith = up ? ofCandidate : ofChosen;
    Figures less = Pieces.sum(windowsWithLess);
    Figures with = Pieces.sum(windowsWith);
    boolean did = prefetched > prefetchedBefore;
    double gain = !did || rate(less) == 0 ? 0 : rate(with) / rate(less);
    int best = gain >= GAIN ? more : fewer;
    boolean moved = best != chosen;
    Ratio ratio = gain == 0 ? null : ratio(windowsWith, windowsWithLess, gain);
    Ratio before = speed;
    if (fewer == 0) {
      speed = ratio;
      isRough = windows == 2;
    } else if (moved && ratio != null && before != null) {
      speed = before.times(up ? ratio : ratio.power(-1));
      isRough |= windows == 2;
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
          best == 0 ? Sentence.PREFETCH_OFF.with() : Sentence.PREFETCH_ON.with(number(best)),
          Sentence.PREFETCH_TRIAL.with(
              ratio == null ? Text.format("%.2f", gain) : ratio,
              number(more),
              fewer == 0 ? "none" : String.valueOf(fewer),
              step(less) == 0 ? 1 : step(with) / step(less),
              windows)
        };
  }

  /** Two windows show no range. */
  private static Ratio ratio(List<Figures> with, List<Figures> less, double gain) {
    return with.size() + less.size() > 2
        ? Ratio.ofRuns(rates(with), rates(less))
        : new Ratio(gain, gain, gain);
  }

  /** Never 0, which has no logarithm. */
  private static double[] rates(List<Figures> windows) {
    return windows.stream().mapToDouble(one -> Math.max(Double.MIN_NORMAL, rate(one))).toArray();
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
    return threads == 1 ? Sentence.ONE_THREAD.with() : Sentence.THREADS.with(threads);
  }

  /** Result for the summary; empty if there is none. */
  String said() {
    Ratio known = speed;
    if (known == null) {
      return "";
    }
    boolean spansOne = known.low() <= 1 && known.high() >= 1;
    Sentence effect = isRough ? Sentence.PREFETCH_ROUGH_EFFECT : Sentence.PREFETCH_EFFECT;
    return Sentence.PREFETCHING.with(
        chosen == 0 ? Sentence.OFF.with() : Sentence.ON.with(number(chosen)),
        spansOne ? Sentence.PREFETCH_NO_EFFECT.with() : effect.with(known));
  }
}
