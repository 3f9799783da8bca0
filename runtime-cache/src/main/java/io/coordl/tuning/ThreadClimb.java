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
 * half of its windows. While the job still waits, twice as many threads are tried. From time to
 * time, and as soon as the steps themselves get slower (another job needs the core), half as many
 * are tried. Used by one thread at a time.
 */
final class ThreadClimb {
  /** Windows of a trial, half of them with each number of threads. */
  static final int TRIAL = 8;

  /** How much faster the job must be with more threads. */
  static final double GAIN = 1.02;

  /** Ratio of speeds that is clear after half of a trial. */
  static final double CLEAR = 1.15;

  /**
   * Windows until fewer threads are tried or, without prefetching, initially until it is tried
   * again.
   */
  static final int AGAIN = 60;

  /** How much slower steps must be, in two consecutive windows, to try fewer threads at once. */
  static final double SLOWER = 1.1;

  private static final int MOST_AGAIN = 16 * AGAIN;

  private final int most;
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

  /** Starts without threads, and never chooses more than {@code most}. */
  ThreadClimb(int most) {
    this.most = most;
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
    (threads == chosen ? ofChosen : ofCandidate).add(window);
    threads = threads == chosen ? candidate : chosen;
    round++;
    return round == TRIAL || (round == TRIAL / 2 && isClear(prefetched))
        ? decide(prefetched)
        : null;
  }

  private boolean isClear(long prefetched) {
    double ratio = rate(Pieces.sum(ofCandidate)) / rate(Pieces.sum(ofChosen));
    return prefetched > prefetchedBefore && (ratio >= CLEAR || ratio <= 1 / CLEAR);
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
    Ratio ratio = gain == 0 ? null : Ratio.ofRuns(rates(windowsWith), rates(windowsWithLess));
    Ratio before = speed;
    if (fewer == 0) {
      speed = ratio;
    } else if (moved && ratio != null && before != null) {
      speed = before.times(up ? ratio : ratio.power(-1));
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
          best == 0 ? Sentence.PREFETCH_OFF.with() : Sentence.PREFETCH_ON.with(number(best)),
          Sentence.PREFETCH_TRIAL.with(
              ratio == null ? Text.format("%.2f", gain) : ratio,
              number(more),
              fewer == 0 ? "none" : String.valueOf(fewer),
              step(less) == 0 ? 1 : step(with) / step(less),
              windows)
        };
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
    boolean spansOne = known.low() < 1 && known.high() > 1;
    return Sentence.PREFETCHING.with(
        chosen == 0 ? Sentence.OFF.with() : Sentence.ON.with(number(chosen)),
        spansOne ? Sentence.PREFETCH_NO_EFFECT.with() : Sentence.PREFETCH_EFFECT.with(known));
  }
}
