package io.coordl.pipeline;

import io.coordl.telemetry.advice.Text;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Decides whether caching a pipeline's units (samples or whole batches) pays off for this job. It
 * compares the time that the program's own code takes for a unit with the cost of caching: storing
 * a unit, finding it again, and checking whether the pipeline has changed (proof, description,
 * comparison), spread over the units of an epoch.
 *
 * <ul>
 *   <li>Caching stops if it saves less than a fifth of the preparation time, or needs more epochs
 *       to pay off than allowed. Then the program's own code runs.
 *   <li>Each figure is the mean of the best of many blocks of measurements, so that neither cold
 *       code nor a busy machine affects it.
 *   <li>To decide within the first epoch, each cached unit is immediately looked up again ({@link
 *       #probes}) until the figures are known.
 *   <li>Caching also stops if the units differ in each epoch, so that there are no hits.
 *   <li>No verdict is final. Caching is tried again after 50 times the time that the last trial
 *       cost.
 * </ul>
 *
 * <p>Thread-safe; holds its lock only briefly.
 */
public final class Worth {
  /** A block ends after this many units, or this much time. */
  static final int BLOCK = 64;

  static final long BLOCK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Number of blocks, or checks, needed for a verdict that is not evident. */
  static final int TRIED = 32;

  /** Units prepared faster than this gain little, so fewer blocks must do. */
  private static final double CHEAP_NANOS = 100_000;

  private static final int TRIED_CHEAP = 8;

  /** The maximum cost of a hit, as a share of the preparation time. */
  private static final double MAX_HIT_COST = 0.8;

  /**
   * A hit that costs less than this share of the preparation time needs only {@link
   * #EVIDENT_BLOCKS} blocks.
   */
  private static final double EVIDENT = 0.125;

  private static final int EVIDENT_BLOCKS = 4;

  /** Time until the next trial, as a multiple of the last trial's cost. */
  private static final int PAUSE = 50;

  /**
   * Caching stops if, without a hit, more than this many epochs have begun, and more than this many
   * times the units of the largest epoch were cached.
   */
  private static final int MAX_EPOCHS_WITHOUT_HIT = 3;

  private final String unit;
  private final IntSupplier epochs;
  private final LongSupplier clock;
  private final Consumer<String> leaves;

  private Pace making = new Pace();
  private Pace batching = new Pace();
  private Pace keeping = new Pace();
  private Pace finding = new Pace();

  /** Units in an epoch, if known. */
  private long size = 1;

  /** Nanoseconds of checks not yet spread over an epoch's units. */
  private long checkNanos;

  private long units;

  /** Number of epochs over whose units checks were spread. */
  private int spread;

  private double checking = Double.MAX_VALUE;
  private int checks;

  /** Units in the largest epoch: training and test data may share this account. */
  private long largest = 1;

  /** Units since an epoch began; its size may be unknown. */
  private long unitsSinceBegun;

  /** Epochs since the last hit. */
  private int epochsWithoutHit;

  /** Units cached since the last hit. */
  private long keptWithoutHit;

  /** Nanoseconds that this trial has cost. */
  private long cost;

  private boolean stopped;
  private boolean isReported;
  private long nextTrial;

  /**
   * Starts without measurements.
   *
   * @param unit name of a unit: sample or batch
   * @param epochs current number of epochs within which caching must pay off
   * @param clock in nanoseconds
   * @param leaves receives, once, the reason why caching stops
   */
  public Worth(String unit, IntSupplier epochs, LongSupplier clock, Consumer<String> leaves) {
    this.unit = unit;
    this.epochs = epochs;
    this.clock = clock;
    this.leaves = leaves;
  }

  /** Whether to cache units and use cached ones. */
  public synchronized boolean paysOff() {
    if (stopped && clock.getAsLong() - nextTrial >= 0) {
      begin();
    }
    return !stopped;
  }

  private void begin() {
    stopped = false;
    making = new Pace();
    batching = new Pace();
    keeping = new Pace();
    finding = new Pace();
    checkNanos = 0;
    units = 0;
    spread = 0;
    checking = Double.MAX_VALUE;
    checks = 0;
    largest = 1;
    unitsSinceBegun = 0;
    epochsWithoutHit = 0;
    keptWithoutHit = 0;
    cost = 0;
  }

  /** Whether to look up a unit just cached, only to measure the time. */
  public synchronized boolean probes() {
    return !stopped && finding.blocks < TRIED && !isEvident();
  }

  private boolean isEvident() {
    return finding.blocks >= EVIDENT_BLOCKS && finding.best < EVIDENT * making.mean();
  }

  /**
   * Called when an epoch has begun with a check of the pipeline.
   *
   * @param unitsOfEpoch number of its units; 1 if unknown
   */
  public synchronized void begun(long nanos, long unitsOfEpoch) {
    if (units >= BLOCK) {
      spread(); // The previous epoch ended early, so its check is spread over fewer units.
    }
    size = unitsOfEpoch;
    largest = Math.max(largest, Math.max(unitsOfEpoch, unitsSinceBegun));
    unitsSinceBegun = 0;
    checks++;
    epochsWithoutHit++;
    checked(nanos);
    if (epochsWithoutHit > MAX_EPOCHS_WITHOUT_HIT
        && keptWithoutHit > MAX_EPOCHS_WITHOUT_HIT * largest) {
      leave("its cached units are not requested again");
    }
    judge(false);
  }

  /** Called when the pipeline was checked during an epoch. */
  public synchronized void checked(long nanos) {
    checkNanos += nanos;
    cost += nanos;
  }

  /** Called when the program's own code has prepared a unit. */
  public synchronized void made(long nanos) {
    making.add(nanos, 1);
    unit();
  }

  /** Called when the library has stacked this many units; it does not stack cached units. */
  public synchronized void batched(long nanos, int times) {
    batching.add(nanos, times);
  }

  /** Called when a unit was cached; {@code nanos} excludes the time to prepare it. */
  public synchronized void kept(long nanos) {
    keptWithoutHit++;
    cost += nanos;
    if (keeping.add(nanos, 1)) {
      judge(true);
    }
  }

  /** Called when units were found and used. */
  public synchronized void found(long nanos, int times) {
    epochsWithoutHit = 0;
    keptWithoutHit = 0;
    for (int i = 0; i < times; i++) {
      unit();
    }
    probed(nanos, times);
  }

  /** Called when units were found but not used. */
  public synchronized void probed(long nanos, int times) {
    cost += nanos;
    if (finding.add(nanos, times)) {
      judge(false);
    }
  }

  private void unit() {
    unitsSinceBegun++;
    units++;
    if (units >= Math.max(BLOCK, size)) {
      spread();
    }
  }

  private void spread() {
    // The first check has more to examine and runs cold code.
    checking = spread == 0 ? checking : Math.min(checking, (double) checkNanos / units);
    spread++;
    checkNanos = 0;
    units = 0;
  }

  /**
   * Returns the cost of checks per unit; 0 in the first two epochs, a lower bound at the start of
   * the third.
   */
  private double checking() {
    if (spread < 2) {
      return 0; // The program may, for example, have set a preprocessor since the first epoch.
    }
    return spread == 2 ? Math.min(checking, (double) checkNanos / Math.max(BLOCK, size)) : checking;
  }

  private double making() {
    return making.mean() + (batching.isKnown() ? batching.mean() : 0);
  }

  private int tried() {
    return making() < CHEAP_NANOS ? TRIED_CHEAP : TRIED;
  }

  private void judge(boolean keeps) {
    if (stopped
        || !making.isKnown()
        || !finding.isKnown()
        || !(finding.blocks >= tried() || checks >= TRIED || isEvident())) {
      return;
    }
    double make = making();
    double saved = make - finding.mean() - checking();
    if (saved < (1 - MAX_HIT_COST) * make
        || (keeps && keeping.mean() > epochs.getAsInt() * saved)) {
      leave(
          Text.format(
              "caching would not pay off; a %s takes %.1f us to make, %.1f to find, %.1f to cache,"
                  + " and %.1f to check for changes",
              unit,
              make / 1e3,
              finding.mean() / 1e3,
              keeping.isKnown() ? keeping.mean() / 1e3 : 0,
              checking() / 1e3));
    }
  }

  private void leave(String why) {
    stopped = true;
    nextTrial = clock.getAsLong() + PAUSE * cost;
    if (!isReported) {
      isReported = true;
      leaves.accept(why);
    }
  }

  /** The time per unit in the best block. */
  private static final class Pace {
    private double best = Double.MAX_VALUE;
    private int blocks;
    private long nanos;
    private int units;

    /** Adds a measurement; returns whether it ends a block. */
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

    /**
     * Returns the mean of the best block, or of the current measurements if no block is complete.
     */
    double mean() {
      return blocks > 0 ? best : (double) nanos / units;
    }
  }
}
