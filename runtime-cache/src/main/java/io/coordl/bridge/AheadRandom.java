package io.coordl.bridge;

import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A random generator that draws what {@link Random} draws, and lets one thread draw ahead: its
 * draws come from a copy, and the generator itself is moved on to where the copy came, later, if
 * nobody has drawn from it in between. So a batch may be prepared before the program asks for it,
 * and thrown away if it does not.
 *
 * <p>{@link Random} keeps its state to itself; its algorithm is specified, so that this one keeps
 * the same state. As safe for concurrent use as {@link Random}.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // What they call is synchronized.
public final class AheadRandom extends Random {
  private static final long serialVersionUID = 1;

  private static final int STATE_BITS = 48;
  private static final long MULTIPLIER = 0x5DEECE66DL;
  private static final long ADDEND = 0xBL;
  private static final long MASK = (1L << STATE_BITS) - 1;

  /** Made by {@link #setSeed}, which the constructor of {@link Random} calls. */
  @SuppressWarnings("NullAway.Init")
  private AtomicLong state;

  private double secondGaussian;
  private boolean hasSecondGaussian;

  private transient volatile @Nullable Thread aheadThread;
  private transient @Nullable AheadRandom ahead;

  /** As {@link Random#Random()}. */
  public AheadRandom() {}

  /** As {@link Random#Random(long)}. */
  public AheadRandom(long seed) {
    super(seed);
  }

  /** The generator this thread draws from. */
  private AheadRandom mine() {
    AheadRandom copy = Thread.currentThread() == aheadThread ? ahead : null;
    return copy == null ? this : copy;
  }

  @Override
  public void setSeed(long seed) {
    mine().begin(seed);
  }

  @SuppressWarnings("ConstantValue") // Null while the constructor of Random runs.
  private synchronized void begin(long seed) {
    if (state == null) {
      state = new AtomicLong();
    }
    state.set((seed ^ MULTIPLIER) & MASK);
    hasSecondGaussian = false;
  }

  @Override
  protected int next(int bits) {
    AtomicLong from = mine().state;
    long old;
    long now;
    do {
      old = from.get();
      now = (old * MULTIPLIER + ADDEND) & MASK;
    } while (!from.compareAndSet(old, now));
    return (int) (now >>> (STATE_BITS - bits));
  }

  @Override
  public double nextGaussian() {
    return mine().gaussian();
  }

  /** The polar method of G. E. P. Box, M. E. Muller and G. Marsaglia, which makes two at a time. */
  private synchronized double gaussian() {
    if (hasSecondGaussian) {
      hasSecondGaussian = false;
      return secondGaussian;
    }
    double first;
    double second;
    double square;
    do {
      first = 2 * nextDouble() - 1;
      second = 2 * nextDouble() - 1;
      square = first * first + second * second;
    } while (square >= 1 || square == 0);
    double factor = StrictMath.sqrt(-2 * StrictMath.log(square) / square);
    secondGaussian = second * factor;
    hasSecondGaussian = true;
    return first * factor;
  }

  /** A generator of its own that will draw what this one will. */
  public synchronized AheadRandom copy() {
    AheadRandom copy = new AheadRandom();
    copy.take(this);
    return copy;
  }

  private synchronized void take(AheadRandom other) {
    state.set(other.state.get());
    secondGaussian = other.secondGaussian;
    hasSecondGaussian = other.hasSecondGaussian;
  }

  /** From now on this thread draws from {@code copy}; one thread at a time. */
  public void drawAhead(AheadRandom copy) {
    ahead = copy;
    aheadThread = Thread.currentThread();
  }

  /** This thread draws from this generator again. */
  public void endAhead() {
    aheadThread = null;
    ahead = null;
  }

  /**
   * Moves this generator on, unless it has been drawn from.
   *
   * @param from what it was when {@code to} was a copy of it
   * @param to where it is to be
   * @return false if it is no longer {@code from}; it then stays as it is
   */
  public synchronized boolean advance(AheadRandom from, AheadRandom to) {
    boolean same =
        hasSecondGaussian == from.hasSecondGaussian
            && (!hasSecondGaussian || secondGaussian == from.secondGaussian)
            && state.compareAndSet(from.state.get(), to.state.get());
    if (same) {
      secondGaussian = to.secondGaussian;
      hasSecondGaussian = to.hasSecondGaussian;
    }
    return same;
  }
}
