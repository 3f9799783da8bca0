package io.coordl.checkpoint;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.stream.LongStream;

/**
 * Chooses how many steps lie between two checkpoints: a given number, or the fewest that keep the
 * cost of checkpoints below a share of the time (CheckFreq, FAST 2021) and let each be written
 * before the next. A checkpoint costs the time that the job waits for it, plus the slowdown of
 * steps while it is written. The number adapts as these costs change. If earlier checkpoints cost
 * more than expected, the next is delayed until their cost is below that share of the whole job so
 * far, so that short jobs stay below it, too. Used by one thread at a time.
 */
final class Cadence {
  /** Number of steps at the start whose times are ignored, because code is not compiled yet. */
  private static final int COLD_STEPS = 5;

  /** Minimum number of steps before the first checkpoint, unless the number is given. */
  private static final int FIRST_STEPS = 10;

  /** Assumed cost of the first checkpoint, which runs code that is not compiled. */
  static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(350);

  /**
   * The first checkpoint, before code is compiled, is assumed to cost this many times as much as
   * the second.
   */
  private static final double COLD_FACTOR = 4;

  private static final int STEPS = 64;
  private static final int COSTS = 4;

  /**
   * Until a checkpoint is due, the interval is recomputed only once in this many steps, because
   * recomputing sorts step times.
   */
  private static final int RECOMPUTE_STEPS = 16;

  /** A step longer than this many times the median contains a pause, and counts as that long. */
  private static final int PAUSE_FACTOR = 10;

  private final long fixed;
  private final DoubleSupplier overhead;

  private final Recent quiet = new Recent(STEPS);
  private final Recent busy = new Recent(STEPS);
  private final Recent costs = new Recent(COSTS);
  private long steps;

  /** Number of steps since the last attempt to take a checkpoint. */
  private long sinceLast;

  private long busySteps;
  private long checkpoints;
  private long waited;
  private long due;

  /** Time since the first step ended. */
  private long elapsed;

  /** Cost of all checkpoints before the last one, and of all failed ones. */
  private long spent;

  /** Time that the job waited for the last failed checkpoint. */
  private long lost;

  private static final class Recent {
    private final long[] values;
    private long count;

    Recent(int size) {
      values = new long[size];
    }

    void add(long value) {
      values[(int) (count++ % values.length)] = value;
    }

    void clear() {
      count = 0;
    }

    LongStream all() {
      return Arrays.stream(values, 0, size());
    }

    /** Returns the median; 0 if there are no values. */
    long median() {
      return all().sorted().skip(size() / 2).findFirst().orElse(0);
    }

    /**
     * Returns the mean. Values above {@code cap} count as {@code cap}. If there are several values,
     * omits the largest 5 % (at least one), which may include pauses.
     */
    double mean(long cap) {
      int kept = size() < 2 ? size() : size() - Math.max(1, size() / 20);
      return all().map(value -> Math.min(value, cap)).sorted().limit(kept).average().orElse(0);
    }

    long longest() {
      return all().max().orElse(0);
    }

    int size() {
      return (int) Math.min(count, values.length);
    }
  }

  private Cadence(long fixed, DoubleSupplier overhead) {
    this.fixed = fixed;
    this.overhead = overhead;
  }

  static Cadence every(long steps) {
    return new Cadence(steps, () -> 0);
  }

  /** Returns a cadence whose checkpoints should cost at most this share of the time so far. */
  static Cadence within(DoubleSupplier overhead) {
    return new Cadence(0, overhead);
  }

  /** Records the first step, whose beginning is unknown. */
  void firstStep() {
    steps++;
    sinceLast++;
  }

  /**
   * Records a later step.
   *
   * @param nanos time since the previous step, or since the checkpoint after it
   * @param writing whether a checkpoint is being written
   */
  void step(long nanos, boolean writing) {
    steps++;
    sinceLast++;
    elapsed += nanos;
    if (writing) {
      busySteps = sinceLast;
      busy.add(nanos);
    } else if (steps > COLD_STEPS) {
      quiet.add(nanos);
    }
  }

  /** Records a checkpoint and how long the job waited for it. */
  void taken(long nanos) {
    if (++checkpoints > 2) { // The first is slower than later ones.
      costs.add(cost());
    }
    spent += cost();
    elapsed += nanos;
    waited = nanos;
    sinceLast = 0;
    busySteps = 0;
    due = 0;
    busy.clear();
  }

  /**
   * Records a failed checkpoint and how long the job waited for it; the next attempt is due as if
   * it had succeeded.
   */
  void failed(long nanos) {
    spent += nanos;
    elapsed += nanos;
    lost = nanos;
    sinceLast = 0;
    due = 0;
  }

  /** Returns the longest recent step, in nanoseconds. */
  long longest() {
    return Math.max(quiet.longest(), busy.longest());
  }

  /** Returns the cost of the last checkpoint so far, in nanoseconds. */
  private long cost() {
    long usual = quiet.median();
    double slow = busy.mean(usual == 0 ? Long.MAX_VALUE : PAUSE_FACTOR * usual);
    return waited + Math.round(busySteps * Math.max(0, slow - quiet.mean(Long.MAX_VALUE)));
  }

  boolean isDue() {
    if (sinceLast < due && sinceLast % RECOMPUTE_STEPS != 0) {
      return false;
    }
    due = interval();
    if (sinceLast < due) {
      return false;
    }
    double missing = fixed > 0 ? 0 : missing();
    if (missing <= 0) {
      return true;
    }
    double step = quiet.median();
    due = sinceLast + (step == 0 ? RECOMPUTE_STEPS : Math.max(1, (long) Math.ceil(missing / step)));
    return false;
  }

  /**
   * Returns for how many more nanoseconds the job must train before the cost of the next checkpoint
   * fits into the share of the whole job; assumes that the second costs as much as the first.
   */
  private double missing() {
    double next = checkpoints == 1 ? cost() : expected();
    return (spent + cost() + next) / overhead.getAsDouble() - elapsed;
  }

  /** Returns the expected cost of the next checkpoint, in nanoseconds. */
  private double expected() {
    return switch ((int) Math.min(checkpoints, 2)) {
      case 0 -> Math.max(FIRST_NANOS, lost);
      case 1 -> cost() / COLD_FACTOR;
      default -> (costs.all().sum() + cost()) / (costs.size() + 1.0);
    };
  }

  long interval() {
    if (fixed > 0) {
      return fixed;
    }
    long step = quiet.median();
    if (checkpoints == 0 || step == 0) {
      return FIRST_STEPS;
    }
    return Math.max(busySteps + 1, (long) Math.ceil(expected() / (overhead.getAsDouble() * step)));
  }
}
