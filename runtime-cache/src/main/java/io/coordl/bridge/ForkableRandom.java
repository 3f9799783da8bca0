package io.coordl.bridge;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A random generator that draws what {@link Random} draws, and can be forked: one thread draws from
 * the fork, and the generator itself is moved on to where the fork came, later, unless it was drawn
 * from in between. So a batch may be prepared before the program asks for it, and thrown away if it
 * does not.
 *
 * <p>{@link Random} keeps its state to itself; its algorithm is specified, so that this one keeps
 * the same state. As safe for concurrent use as {@link Random}.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // What they call is synchronized.
public final class ForkableRandom extends Random {
  private static final long serialVersionUID = 1;

  private static final int STATE_BITS = 48;
  private static final long MULTIPLIER = 0x5DEECE66DL;
  private static final long ADDEND = 0xBL;
  private static final long MASK = (1L << STATE_BITS) - 1;

  /** How often each thread has drawn or set a seed, from any generator; counted once asked for. */
  private static final ThreadLocal<long[]> DRAWS = ThreadLocal.withInitial(() -> new long[1]);

  private static volatile boolean counting;

  /** Made by {@link #setSeed}, which the constructor of {@link Random} calls. */
  @SuppressWarnings("NullAway.Init")
  private AtomicLong state;

  private double secondGaussian;
  private boolean hasSecondGaussian;

  private transient volatile @Nullable Thread forkThread;
  private transient @Nullable ForkableRandom fork;

  public ForkableRandom() {}

  public ForkableRandom(long seed) {
    super(seed);
  }

  /** The generator this thread draws from. */
  private ForkableRandom mine() {
    ForkableRandom mine = Thread.currentThread() == forkThread ? fork : null;
    return mine == null ? this : mine;
  }

  public static void countDraws() {
    counting = true;
  }

  /** How often this thread has used a generator of this class: two equal counts, and it has not. */
  public static long draws() {
    return DRAWS.get()[0];
  }

  private static void count() {
    if (counting) {
      DRAWS.get()[0]++;
    }
  }

  @Override
  public void setSeed(long seed) {
    count();
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
    count();
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
    count();
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
  public synchronized ForkableRandom fork() {
    ForkableRandom made = new ForkableRandom();
    made.take(this);
    return made;
  }

  private synchronized void take(ForkableRandom other) {
    state.set(other.state.get());
    secondGaussian = other.secondGaussian;
    hasSecondGaussian = other.hasSecondGaussian;
  }

  /** From now on this thread draws from {@code other}; one thread at a time. */
  public void drawFrom(ForkableRandom other) {
    fork = other;
    forkThread = Thread.currentThread();
  }

  /** This thread draws from this generator again. */
  public void endFork() {
    forkThread = null;
    fork = null;
  }

  /** Where it is, to be {@link #restore restored} in another JVM. */
  public synchronized void save(DataOutput out) throws IOException {
    out.writeLong(state.get());
    out.writeBoolean(hasSecondGaussian);
    out.writeDouble(secondGaussian);
  }

  /** Is what one was when it was {@link #save saved}. */
  public synchronized void restore(DataInput in) throws IOException {
    state.set(in.readLong());
    hasSecondGaussian = in.readBoolean();
    secondGaussian = in.readDouble();
  }

  /** Whether this will draw what the other will; both are used by this thread only. */
  public synchronized boolean isAt(ForkableRandom other) {
    return hasSameGaussian(other) && state.get() == other.state.get();
  }

  private boolean hasSameGaussian(ForkableRandom other) {
    return hasSecondGaussian == other.hasSecondGaussian
        && (!hasSecondGaussian || secondGaussian == other.secondGaussian);
  }

  /**
   * Moves this generator on, unless it has been drawn from.
   *
   * @param from what it was when {@code to} was forked from it
   * @param to where it is to be
   * @return false if it is no longer {@code from}; it then stays as it is
   */
  public synchronized boolean advance(ForkableRandom from, ForkableRandom to) {
    boolean same = hasSameGaussian(from) && state.compareAndSet(from.state.get(), to.state.get());
    if (same) {
      secondGaussian = to.secondGaussian;
      hasSecondGaussian = to.hasSecondGaussian;
    }
    return same;
  }
}
