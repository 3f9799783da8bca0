package io.coordl.pipeline;

import io.coordl.advice.Text;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Whether keeping what a pipeline makes (samples, or whole batches: units) pays for the job itself.
 * On one side stands the time that the program's own code takes for a unit; on the other all that
 * keeping costs: to keep a unit, to find it again, and to look whether the pipeline is what it was
 * (proof, description, comparison), spread over the units of an epoch.
 *
 * <ul>
 *   <li>Keeping is given up where it saves less than a fifth of the making, or where the epochs in
 *       which it would pay for itself are more than it may take. Then the program's own code runs.
 *   <li>Only warm code counts: each figure is the mean of the best of many blocks, so neither cold
 *       code nor a busy machine decides.
 *   <li>So that the first epoch need not be paid for in vain, what was kept is found once more at
 *       once ({@link #probes}) until the figures are known.
 *   <li>A pipeline whose units are others in each epoch is given up, too: nothing is found.
 *   <li>No verdict is for good. It is tried again once what the last trial cost is a fiftieth of
 *       the time since.
 * </ul>
 *
 * <p>Thread-safe; never blocks but for a few instructions.
 */
public final class Worth {
  /** A block ends after so many units, or so much time. */
  static final int BLOCK = 64;

  static final long BLOCK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Blocks, or looks, after which it is told. */
  static final int TRIED = 32;

  /** Of the time that making takes, what finding may take. */
  private static final double MOST = 0.8;

  /** Units that are found in so small a part of it need no more proof. */
  private static final double EVIDENT = 0.125;

  private static final int EVIDENT_BLOCKS = 4;

  /** The time until it is tried again, by what the trial cost. */
  private static final int PAUSE = 50;

  /** Epochs in which nothing was found again. */
  private static final int IN_VAIN = 3;

  private final String unit;
  private final IntSupplier epochs;
  private final LongSupplier clock;
  private final Consumer<String> leaves;

  private Pace making = new Pace();
  private Pace batching = new Pace();
  private Pace keeping = new Pace();
  private Pace finding = new Pace();

  /** Units of an epoch, as far as is known. */
  private long size = 1;

  /** Since looking was last spread over the units of an epoch. */
  private long looked;

  private long units;

  /** Epochs so far over whose units it was spread. */
  private int spread;

  private double looking = Double.MAX_VALUE;
  private int looks;

  /** Looks, and units kept, since a unit was found. */
  private int looksInVain;

  private long keptInVain;

  /** Nanoseconds that this trial has cost. */
  private long cost;

  private boolean left;
  private boolean isSaid;
  private long again;

  /**
   * Nothing is known yet.
   *
   * @param unit what it is called: sample, batch
   * @param epochs after so many of them keeping has to have paid for itself, as of now
   * @param clock in nanoseconds
   * @param leaves hears once why it is given up
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

  /** Whether to find what has just been kept, only to know what that takes. */
  public synchronized boolean probes() {
    return !left && finding.blocks < TRIED && !isEvident();
  }

  private boolean isEvident() {
    return finding.blocks >= EVIDENT_BLOCKS && finding.best < EVIDENT * making.mean();
  }

  /** An epoch, with so many units, has begun with a look at the pipeline. */
  public synchronized void begun(long nanos, long unitsOfEpoch) {
    if (units >= BLOCK) {
      spread(); // The epoch before was left early: its units are all that came of its look.
    }
    size = unitsOfEpoch;
    looks++;
    looksInVain++;
    look(nanos);
    if (looksInVain > IN_VAIN && keptInVain > IN_VAIN * size) {
      leave("what was kept of them is not asked for again");
    }
    judge(false);
  }

  /** The pipeline was looked at within an epoch. */
  public synchronized void look(long nanos) {
    looked += nanos;
    cost += nanos;
  }

  /** The program's own code has made a unit. */
  public synchronized void made(long nanos) {
    making.add(nanos, 1);
    unit();
  }

  /** The library has put so many units together, as it need not do with those that are found. */
  public synchronized void batched(long nanos, int times) {
    batching.add(nanos, times);
  }

  /** A unit was kept; {@code nanos} beside making it. */
  public synchronized void kept(long nanos) {
    keptInVain++;
    cost += nanos;
    if (keeping.add(nanos, 1)) {
      judge(true);
    }
  }

  /** Units were found, and used. */
  public synchronized void found(long nanos, int times) {
    looksInVain = 0;
    keptInVain = 0;
    for (int i = 0; i < times; i++) {
      unit();
    }
    probed(nanos, times);
  }

  /** Units were found, and not used. */
  public synchronized void probed(long nanos, int times) {
    cost += nanos;
    if (finding.add(nanos, times)) {
      judge(false);
    }
  }

  private void unit() {
    units++;
    if (units >= Math.max(BLOCK, size)) {
      spread();
    }
  }

  private void spread() {
    // The first time there is more to look at, and the code is cold.
    looking = spread == 0 ? looking : Math.min(looking, (double) looked / units);
    spread++;
    looked = 0;
    units = 0;
  }

  /** Of a unit; of the third epoch it is known at its beginning that it is no less. */
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

  /** What a unit takes in the best block. */
  private static final class Pace {
    private double best = Double.MAX_VALUE;
    private int blocks;
    private long nanos;
    private int units;

    /** Whether a block ends with it. */
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

    /** Of the best block; of what there is, if that is none. */
    double mean() {
      return blocks > 0 ? best : (double) nanos / units;
    }
  }
}
