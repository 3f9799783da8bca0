package io.coordl.pipeline;

import io.coordl.advice.Text;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Decides whether keeping a pipeline's results (samples or whole batches: units) pays for the job
 * itself. It compares the time that the program's own code takes for a unit with all costs of
 * keeping: storing a unit, finding it again, and checking that the pipeline is unchanged (proof,
 * description, comparison), spread over the units of an epoch.
 *
 * <ul>
 *   <li>Keeping is given up if it saves less than a fifth of the time to make units, or if it needs
 *       more epochs than allowed to pay off. Then the program's own code runs.
 *   <li>Only warm code counts: each figure is the mean of the best of many blocks, so neither cold
 *       code nor a busy machine decides.
 *   <li>To avoid paying for the first epoch in vain, units are looked up right after they are kept
 *       ({@link #probes}) until the figures are known.
 *   <li>A pipeline whose units differ in each epoch is given up, too: nothing is found.
 *   <li>No verdict is final. Keeping is tried again once the cost of the last trial is a fiftieth
 *       of the time since.
 * </ul>
 *
 * <p>Thread-safe; never blocks for more than a few instructions.
 */
public final class Worth {
  /** A block ends after this many units or this much time. */
  static final int BLOCK = 64;

  static final long BLOCK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Blocks or checks after which a verdict is given. */
  static final int TRIED = 32;

  /** Finding may take at most this fraction of the time of making. */
  private static final double MOST = 0.8;

  /** If finding takes less than this fraction, no more proof is needed. */
  private static final double EVIDENT = 0.125;

  private static final int EVIDENT_BLOCKS = 4;

  /** Pause before the next trial, as a multiple of the trial's cost. */
  private static final int PAUSE = 50;

  /** Epochs without any hit before keeping is given up. */
  private static final int IN_VAIN = 3;

  private final String unit;
  private final IntSupplier epochs;
  private final LongSupplier clock;
  private final Consumer<String> leaves;

  private Pace making = new Pace();
  private Pace batching = new Pace();
  private Pace keeping = new Pace();
  private Pace finding = new Pace();

  /** Units of an epoch, if known. */
  private long size = 1;

  /** Nanoseconds of checks since they were last spread over the units of an epoch. */
  private long looked;

  private long units;

  /** Number of epochs over whose units they were spread so far. */
  private int spread;

  private double looking = Double.MAX_VALUE;
  private int looks;

  /** Checks since a unit was last found; below, units kept since then. */
  private int looksInVain;

  private long keptInVain;

  /** Cost of this trial in nanoseconds. */
  private long cost;

  private boolean left;
  private boolean isSaid;
  private long again;

  /**
   * Starts without any measurements.
   *
   * @param unit its name: sample, batch
   * @param epochs within which keeping has to pay off, as of now
   * @param clock in nanoseconds
   * @param leaves called once with the reason for giving up
   */
  public Worth(String unit, IntSupplier epochs, LongSupplier clock, Consumer<String> leaves) {
    this.unit = unit;
    this.epochs = epochs;
    this.clock = clock;
    this.leaves = leaves;
  }

  /** Whether to keep, and to use what is kept. */
  public synchronized boolean isIt() {
    if (left && clock.getAsLong() - again >= 0) {
      begin();
    }
    return !left;
  }

  private void begin() {
    left = false;
    making = new Pace();
    batching = new Pace();
    keeping = new Pace();
    finding = new Pace();
    looked = 0;
    units = 0;
    spread = 0;
    looking = Double.MAX_VALUE;
    looks = 0;
    looksInVain = 0;
    keptInVain = 0;
    cost = 0;
  }

  /** Whether to look up what has just been kept, only to measure the time. */
  public synchronized boolean probes() {
    return !left && finding.blocks < TRIED && !isEvident();
  }

  private boolean isEvident() {
    return finding.blocks >= EVIDENT_BLOCKS && finding.best < EVIDENT * making.mean();
  }

  /** An epoch of {@code unitsOfEpoch} units has begun with a check of the pipeline. */
  public synchronized void begun(long nanos, long unitsOfEpoch) {
    size = unitsOfEpoch;
    looks++;
    looksInVain++;
    look(nanos);
    if (looksInVain > IN_VAIN && keptInVain > IN_VAIN * size) {
      leave("what was kept of them is not asked for again");
    }
    judge(false);
  }

  /** The pipeline was checked during an epoch. */
  public synchronized void look(long nanos) {
    looked += nanos;
    cost += nanos;
  }

  /** The program's own code has made a unit. */
  public synchronized void made(long nanos) {
    making.add(nanos, 1);
    unit();
  }

  /** The library has stacked this many units, which it need not do with units that are found. */
  public synchronized void batched(long nanos, int times) {
    batching.add(nanos, times);
  }

  /** A unit was kept; {@code nanos} excludes the time to make it. */
  public synchronized void kept(long nanos) {
    keptInVain++;
    cost += nanos;
    if (keeping.add(nanos, 1)) {
      judge(true);
    }
  }

  /** Units were found and used. */
  public synchronized void found(long nanos, int times) {
    looksInVain = 0;
    keptInVain = 0;
    for (int i = 0; i < times; i++) {
      unit();
    }
    probed(nanos, times);
  }

  /** Units were found but not used. */
  public synchronized void probed(long nanos, int times) {
    cost += nanos;
    if (finding.add(nanos, times)) {
      judge(false);
    }
  }

  private void unit() {
    units++;
    if (units >= Math.max(BLOCK, size)) {
      // The first check has more to do, and the code is cold.
      looking = spread == 0 ? looking : Math.min(looking, (double) looked / units);
      spread++;
      looked = 0;
      units = 0;
    }
  }

  /** Cost of checks per unit; at the beginning of the third epoch, a lower bound for that epoch. */
  private double looking() {
    if (spread < 2) {
      return 0; // The program may have set a preprocessor, say, since the first.
    }
    return spread == 2 ? Math.min(looking, (double) looked / Math.max(BLOCK, size)) : looking;
  }

  private void judge(boolean keeps) {
    if (left
        || !making.isKnown()
        || !finding.isKnown()
        || !(finding.blocks >= TRIED || looks >= TRIED || isEvident())) {
      return;
    }
    double make = making.mean() + (batching.isKnown() ? batching.mean() : 0);
    double saved = make - finding.mean() - looking();
    if (saved < (1 - MOST) * make || (keeps && keeping.mean() > epochs.getAsInt() * saved)) {
      leave(
          Text.format(
              "it would not pay; a %s takes %.1f us to make, %.1f to find, %.1f to keep, and the"
                  + " look whether it is still the same %.1f",
              unit,
              make / 1e3,
              finding.mean() / 1e3,
              keeping.isKnown() ? keeping.mean() / 1e3 : 0,
              looking() / 1e3));
    }
  }

  private void leave(String why) {
    left = true;
    again = clock.getAsLong() + PAUSE * cost;
    if (!isSaid) {
      isSaid = true;
      leaves.accept(why);
    }
  }

  /** Time per unit in the best block. */
  private static final class Pace {
    private double best = Double.MAX_VALUE;
    private int blocks;
    private long nanos;
    private int units;

    /** Returns whether this ends a block. */
    boolean add(long more, int times) {
      nanos += more;
      units += times;
      boolean isWhole = units >= BLOCK || nanos >= BLOCK_NANOS;
      if (isWhole) {
        best = Math.min(best, (double) nanos / units);
        blocks++;
        nanos = 0;
        units = 0;
      }
      return isWhole;
    }

    boolean isKnown() {
      return blocks > 0 || units > 0;
    }

    /** Mean of the best block; of all units so far if no block is complete. */
    double mean() {
      return blocks > 0 ? best : (double) nanos / units;
    }
  }
}
