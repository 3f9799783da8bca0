package io.coordl.tuning;

import io.coordl.telemetry.advice.Sentence;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.steps.Ratio;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the smallest number of prefetching threads that makes the job fastest, by hill climbing
 * over windows of time. A trial alternates between two thread counts, so that other changes affect
 * both. The larger count wins only if the job gets faster. A clear result ends the trial after half
 * of its windows. An evident gain ends it after the first two; an evident loss does not, because
 * the code may still be cold. The first trial uses one thread, or two if the waits exceed the
 * steps. While the job still waits, the next trial doubles the threads. After an evident doubling,
 * the last window also counts for the next trial, so a climb to eight threads takes five windows.
 * From time to time, and as soon as the steps themselves get slower, as when another job needs the
 * core, a trial halves the threads. Used by one thread at a time.
 */
final class ThreadClimb {
  /** Windows of a trial, half of them with each number of threads. */
  static final int TRIAL = 8;

  /** How much faster the job must be with more threads. */
  static final double GAIN = 1.02;

  /** Ratio of speeds that counts as clear after half of a trial. */
  static final double CLEAR = 1.15;

  /** Ratio of speeds that is evident after one window with each number of threads. */
  static final double EVIDENT = 1.25;

  /**
   * Windows until fewer threads are tried. Without prefetching, the first retry comes after twice
   * as many, and each further pause is twice as long as the last, up to {@link #MAX_PAUSE}.
   */
  static final int RETRY_WINDOWS = 60;

  /** How much slower steps must be, in two consecutive windows, to try fewer threads early. */
  static final double SLOWER = 1.1;

  /** Windows of a trial after which an evident gain ends it. */
  private static final int SHORT_WINDOWS = 2;

  private static final int MAX_PAUSE = 16 * RETRY_WINDOWS;

  private final int maxThreads;
  private volatile int threads;
  private int current;
  private int candidate = 1;

  /** Windows of the current trial so far; -1 if there is none. */
  private int round = -1;

  private long prefetchedBefore;
  private List<Figures> currentWindows = new ArrayList<>();
  private List<Figures> candidateWindows = new ArrayList<>();
  private int untilTrial;
  private int pause = RETRY_WINDOWS;

  /** Nanoseconds per step with the current threads. */
  private double step;

  /** Consecutive windows with slower steps. */
  private int slower;

  /** Speed-up of the current threads over no prefetching; null if unknown. */
  private @Nullable Ratio speed;

  /** Whether {@link #speed} includes trials of two windows, which give no interval. */
  private boolean isRough;

  /** Whether a trial has ended since the last restart. */
  private boolean hasDecided;

  /** Whether the current threads have not been compared with none ({@link #start}). */
  private boolean isUntried;

  /** Starts without threads, and never chooses more than {@code maxThreads}. */
  ThreadClimb(int maxThreads) {
    this.maxThreads = maxThreads;
  }

  /** Returns the number of threads that should prefetch now; 0 turns prefetching off. */
  int threads() {
    return threads;
  }

  /** Whether threads that a trial has chosen prefetch outside of trials. */
  boolean keepsThreads() {
    return current > 0 && !isUntried;
  }

  /**
   * Prefetches from now on, with the threads that the first trial would use. The next trial
   * compares them with none.
   *
   * @param prefetched items and batches prefetched so far
   */
  void start(Figures window, long prefetched) {
    if (current == 0 && round < 0) {
      current = firstThreads(window);
      threads = current;
      step = Double.POSITIVE_INFINITY; // No step is slower.
      isUntried = true;
      prefetchedBefore = prefetched;
    }
  }

  /**
   * Whether the current window may be short. The first windows of a trial are short, because they
   * end it only if the gain is evident.
   */
  boolean isShort() {
    return round < 0 ? !hasDecided : round < SHORT_WINDOWS;
  }

  /**
   * Called when the time of a batch changes, for example because more of its data is cached:
   * earlier measurements no longer hold.
   *
   * @param keepsThreads whether the number of threads stays until the next trial, which begins soon
   */
  void restart(boolean keepsThreads) {
    round = -1;
    current = keepsThreads ? current : 0;
    isUntried &= keepsThreads;
    threads = current;
    untilTrial = 0;
    pause = RETRY_WINDOWS;
    slower = 0;
    step = Double.POSITIVE_INFINITY; // No step is slower.
    speed = null;
    isRough = false;
    hasDecided = false;
  }

  /**
   * Called at the end of a window.
   *
   * @param prefetched items and batches prefetched so far
   * @return the decision and its reason; null if there is none
   */
  String @Nullable [] ended(Figures window, long prefetched) {
    if (round < 0) {
      untilTrial--;
      slower = current > 0 && step(window) > SLOWER * step ? slower + 1 : 0;
      boolean isSlower = slower == 2;
      if (isSlower || (untilTrial < 0 && (current > 0 || waits(window)))) {
        if (isUntried) {
          begin(0, prefetchedBefore);
        } else {
          begin(current == 0 ? firstThreads(window) : current / 2, prefetched);
        }
        // A window chosen for being slow would favour the candidate.
        if (!isSlower && current > 0) {
          countAsFirst(window);
        }
      }
      return null;
    }
    int windowThreads = threads;
    (windowThreads == current ? currentWindows : candidateWindows).add(window);
    threads = windowThreads == current ? candidate : current;
    round++;
    boolean evident = round == SHORT_WINDOWS && gain(prefetched) >= EVIDENT;
    double gain = round == TRIAL / 2 ? gain(prefetched) : 1;
    if (round < TRIAL && !evident && gain < CLEAR && gain > 1 / CLEAR) {
      return null;
    }
    String[] decision = decide(prefetched);
    if (evident && round == 0 && candidate > current && windowThreads == current) {
      countAsFirst(window);
    }
    return decision;
  }

  /**
   * Returns the number of threads to try first. If the waits exceed the steps, one thread would
   * hardly help: it can only prepare the next batch during a step.
   */
  private int firstThreads(Figures window) {
    return window.share(window.dataStall()) > 0.5 ? Math.min(2, maxThreads) : 1;
  }

  /** Counts the window before a trial as its first, with the current number of threads. */
  private void countAsFirst(Figures window) {
    currentWindows.add(window);
    threads = candidate;
    round = 1;
  }

  /** Returns how much faster the job is with more threads in this trial; 1 if unknown. */
  private double gain(long prefetched) {
    Figures withFewer = StepHistory.sum(windows(false));
    return prefetched > prefetchedBefore
        ? Math.min(maxGain(withFewer), rate(StepHistory.sum(windows(true))) / rate(withFewer))
        : 1;
  }

  /** Returns the windows of this trial with the larger, or the smaller, number of threads. */
  private List<Figures> windows(boolean withMore) {
    return withMore == candidate > current ? candidateWindows : currentWindows;
  }

  /** Returns the largest speed-up that more threads can bring to a job with these waits. */
  private static double maxGain(Figures withFewer) {
    long steps = withFewer.wall - withFewer.dataStall();
    return steps <= 0 ? Double.POSITIVE_INFINITY : (double) withFewer.wall / steps;
  }

  private void begin(int other, long prefetched) {
    round = 0;
    slower = 0;
    candidate = other;
    prefetchedBefore = prefetched;
    currentWindows = new ArrayList<>();
    candidateWindows = new ArrayList<>();
  }

  private String @Nullable [] decide(long prefetched) {
    int windows = round;
    round = -1;
    hasDecided = true;
    isUntried = false;
    boolean up = candidate > current;
    int fewer = Math.min(current, candidate);
    int more = Math.max(current, candidate);
    List<Figures> windowsFewer = windows(false);
    List<Figures> windowsMore = windows(true);
    Figures withFewer = StepHistory.sum(windowsFewer);
    Figures withMore = StepHistory.sum(windowsMore);
    boolean hasPrefetched = prefetched > prefetchedBefore;
    double gain = !hasPrefetched || rate(withFewer) == 0 ? 0 : gain(prefetched);
    int best = gain >= GAIN ? more : fewer;
    boolean isChanged = best != current;
    Ratio ratio =
        gain == 0 ? null : ratio(windowsMore, windowsFewer, gain).atMost(maxGain(withFewer));
    Ratio before = speed;
    if (fewer == 0) {
      speed = ratio;
      isRough = windows == SHORT_WINDOWS;
    } else if (isChanged && ratio != null && before != null) {
      speed = before.times(up ? ratio : ratio.power(-1));
      isRough |= windows == SHORT_WINDOWS;
    }
    current = best;
    threads = best;
    step = step(best == more ? withMore : withFewer);
    pause = best > 0 ? RETRY_WINDOWS : Math.min(MAX_PAUSE, 2 * pause);
    untilTrial = pause;
    if (isChanged && !up && best > 0) {
      begin(best / 2, prefetched);
    } else if (isChanged == up
        && best > 0
        && best < maxThreads
        && waits(best == more ? withMore : withFewer)) {
      begin(Math.min(maxThreads, 2 * best), prefetched);
    }
    return !hasPrefetched
        ? null
        : new String[] {
          best == 0 ? Sentence.PREFETCH_OFF.with() : Sentence.PREFETCH_ON.with(number(best)),
          Sentence.PREFETCH_TRIAL.with(
              ratio == null ? Text.format("%.2f", gain) : ratio,
              number(more),
              fewer == 0 ? "none" : String.valueOf(fewer),
              step(withFewer) == 0 ? 1 : step(withMore) / step(withFewer),
              windows)
        };
  }

  /** Returns the ratio of speeds; two windows give no interval. */
  private static Ratio ratio(List<Figures> withMore, List<Figures> withFewer, double gain) {
    return withMore.size() + withFewer.size() > 2
        ? Ratio.ofRuns(rates(withMore), rates(withFewer))
        : new Ratio(gain, gain, gain);
  }

  /** Returns positive rates, because 0 has no logarithm. */
  private static double[] rates(List<Figures> windows) {
    return windows.stream().mapToDouble(one -> Math.max(Double.MIN_NORMAL, rate(one))).toArray();
  }

  /** Whether the job waits for anything that prefetching could provide. */
  private static boolean waits(Figures figures) {
    return figures.share(figures.dataStall()) >= Tuner.WORTH;
  }

  /** Returns batches, not samples, per nanosecond: the size of a batch may be unknown. */
  static double rate(Figures figures) {
    return figures.wall == 0 ? 0 : (double) figures.batches / figures.wall;
  }

  /** Returns nanoseconds per batch without waits. */
  static double step(Figures figures) {
    return figures.batches == 0 ? 0 : (double) (figures.wall - figures.stall) / figures.batches;
  }

  private static String number(int threads) {
    return threads == 1 ? Sentence.ONE_THREAD.with() : Sentence.THREADS.with(threads);
  }

  /** Returns the result for the summary; empty if there is none. */
  String summary(long prefetched) {
    if ((speed == null && current == 0) || (isUntried && prefetched == prefetchedBefore)) {
      return "";
    }
    return Sentence.PREFETCHING.with(
        current == 0 ? Sentence.OFF.with() : Sentence.ON.with(number(current)), effect());
  }

  private String effect() {
    Ratio known = speed;
    if (known == null) {
      return Sentence.PREFETCH_UNMEASURED.with();
    } else if (known.low() <= 1 && known.high() >= 1) {
      return Sentence.PREFETCH_NO_EFFECT.with();
    }
    return isRough && known.value() > 1
        ? Sentence.PREFETCH_ROUGH_EFFECT.with()
        : Sentence.PREFETCH_EFFECT.with(known);
  }
}
