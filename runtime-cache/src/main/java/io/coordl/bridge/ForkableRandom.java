package io.coordl.bridge;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A random generator that produces the same sequence as {@link Random} and can be forked. One
 * thread draws from the fork; later the generator itself advances to the fork's state, unless it
 * was used in between. So a batch can be prepared before the program requests it, and discarded if
 * the program never does.
 *
 * <p>{@link Random} does not expose its state, but its algorithm is specified, so this class
 * reproduces that state. As safe for concurrent use as {@link Random}.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // The overrides call synchronized methods.
public final class ForkableRandom extends Random {
  private static final long serialVersionUID = 1;

  private static final int STATE_BITS = 48;
  private static final long MULTIPLIER = 0x5DEECE66DL;
  private static final long ADDEND = 0xBL;
  private static final long MASK = (1L << STATE_BITS) - 1;

  /**
   * Per thread, the number of draws and seed changes over all generators; see {@link #countDraws}.
   */
  private static final ThreadLocal<long[]> DRAWS = ThreadLocal.withInitial(() -> new long[1]);

  private static volatile boolean counting;

  /** Created by {@link #setSeed}, which the constructor of {@link Random} calls. */
  @SuppressWarnings("NullAway.Init")
  private AtomicLong state;

  private double secondGaussian;
  private boolean hasSecondGaussian;

  /** A generator and the fork from which a thread draws instead. */
  private record Fork(ForkableRandom of, ForkableRandom to) {}

  private static final ThreadLocal<@Nullable Fork> FORKS = new ThreadLocal<>();

  /** Number of threads that draw from a fork; while zero, draws skip the thread-local lookup. */
  private static final AtomicInteger FORKING = new AtomicInteger();

  public ForkableRandom() {}

  public ForkableRandom(long seed) {
    super(seed);
  }

  /** Returns the generator from which this thread draws. */
  private ForkableRandom mine() {
    Fork fork = FORKING.get() == 0 ? null : FORKS.get();
    return fork != null && fork.of == this ? fork.to : this;
  }

  /** Starts the count that {@link #draws} returns. */
  public static void countDraws() {
    counting = true;
  }

  /**
   * Returns how often this thread has used any generator of this class; equal counts mean no use in
   * between.
   */
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

  /**
   * Draws by the polar method of G. E. P. Box, M. E. Muller and G. Marsaglia, which yields two
   * values at a time.
   */
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

  /** Returns an independent generator that will draw the same values as this one. */
  public synchronized ForkableRandom fork() {
    ForkableRandom copy = new ForkableRandom();
    copy.take(this);
    return copy;
  }

  private synchronized void take(ForkableRandom other) {
    state.set(other.state.get());
    secondGaussian = other.secondGaussian;
    hasSecondGaussian = other.hasSecondGaussian;
  }

  /**
   * Makes this thread's draws from this generator come from {@code other} until {@link #endFork}.
   */
  public void drawFrom(ForkableRandom other) {
    if (FORKS.get() == null) {
      FORKING.incrementAndGet();
    }
    FORKS.set(new Fork(this, other));
  }

  /** Makes this thread draw from this generator again. */
  public void endFork() {
    if (FORKS.get() != null) {
      FORKS.remove();
      FORKING.decrementAndGet();
    }
  }

  /**
   * Runs {@code work}, whose draws advance a copy of this thread's generator. If {@code work}
   * returns true, the generator itself then advances by the same draws.
   *
   * @return false if {@code work} returns false, or if the generator has been used in between;
   *     then, and if {@code work} throws, the draws do not affect the generator
   */
  public boolean attempt(BooleanSupplier work) {
    ForkableRandom mine = mine();
    ForkableRandom from = mine.fork();
    ForkableRandom to = from.fork();
    boolean[] done = {false};
    drawingFrom(to, () -> done[0] = work.getAsBoolean());
    return done[0] && mine.advance(from, to);
  }

  /**
   * Undoes draws of this thread's generator, unless it has been used since.
   *
   * @param after the generator's state after these draws
   * @param before its state before them
   */
  public void takeBack(ForkableRandom after, ForkableRandom before) {
    mine().advance(after, before);
  }

  /** Runs {@code work}, which draws from {@code other}; calls may be nested. */
  public void drawingFrom(ForkableRandom other, Runnable work) {
    Fork outer = FORKS.get();
    drawFrom(other);
    try {
      work.run();
    } finally {
      if (outer == null) {
        endFork();
      } else {
        FORKS.set(outer);
      }
    }
  }

  /** Returns a copy of the generator from which this thread draws. */
  public ForkableRandom forkOfMine() {
    return mine().fork();
  }

  /** Saves the state, so that another JVM can {@link #restore} it. */
  public synchronized void save(DataOutput out) throws IOException {
    out.writeLong(state.get());
    out.writeBoolean(hasSecondGaussian);
    out.writeDouble(secondGaussian);
  }

  /** Restores a {@link #save saved} state. */
  public synchronized void restore(DataInput in) throws IOException {
    state.set(in.readLong());
    hasSecondGaussian = in.readBoolean();
    secondGaussian = in.readDouble();
  }

  /** Whether both generators will draw the same values; both must be used only by this thread. */
  public synchronized boolean isAt(ForkableRandom other) {
    return hasSameGaussian(other) && state.get() == other.state.get();
  }

  private boolean hasSameGaussian(ForkableRandom other) {
    return hasSecondGaussian == other.hasSecondGaussian
        && (!hasSecondGaussian || secondGaussian == other.secondGaussian);
  }

  /**
   * Advances this generator, unless it has been used.
   *
   * @param from the state that this generator must still have
   * @param to the state to advance to
   * @return false if the state is not {@code from}; it is then unchanged
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
