package io.coordl.library.declared;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Iterators like those of real programs; the agent must leave some of them to the program. */
@SuppressWarnings({"ArrayRecordComponent", "EffectivelyPrivate", "UnusedMethod", "UnusedVariable"})
final class Loops {
  static final int BATCHES = 6;

  private Loops() {}

  /** Work that takes longer than finding its result in the cache. */
  static float work(int seed) {
    float value = seed;
    for (int i = 0; i < 100_000; i++) {
      value = value * 0.9999f + i % 7;
    }
    return value;
  }

  static float[][] rows(int seed) {
    return new float[][] {{work(seed), seed}, {seed + 1}};
  }

  /** The superclass of most of these iterators. */
  abstract static class Batches {
    int at;

    boolean hasNext() {
      return at < BATCHES;
    }

    void reset() {
      at = 0;
    }
  }

  static class Plain extends Batches {
    public float[][] next() {
      return rows(at++);
    }
  }

  record Rows(FloatBuffer features, int[] labels, double weight) {}

  static final class Records extends Batches {
    public Rows next() {
      FloatBuffer features = ByteBuffer.allocateDirect(64).asFloatBuffer();
      features.put(work(at)).put(at);
      return new Rows(features.flip(), new int[] {at, 1}, at++ / 3.0);
    }
  }

  /** The classic case: one array, filled again for each batch. */
  static final class Reused extends Batches {
    private final float[][] batch = new float[2][2];

    public float[][] next() {
      batch[0][0] = work(at);
      batch[1][0] = at++;
      return batch;
    }
  }

  /** The same, but a method fills the array. */
  static final class ReusedElsewhere extends Batches {
    private final float[] batch = new float[2];

    public float[] next() {
      fill(batch, work(at++));
      return batch;
    }

    private static void fill(float[] to, float value) {
      to[0] = value;
    }
  }

  static final class Padded extends Batches {
    private final float[] padding = {0, 0};

    public float[][] next() {
      return at % 2 == 0 ? rows(at++) : new float[][] {{work(at++)}, padding};
    }
  }

  static final class Constant extends Batches {
    static final int[] NONE = {};

    public Object[] next() {
      return new Object[] {rows(at++), NONE};
    }
  }

  record Pair(int label, float value) {}

  static final class Preloaded extends Batches {
    private final List<Pair> all = new ArrayList<>();

    Preloaded() {
      for (int i = 0; i < BATCHES; i++) {
        all.add(new Pair(i, work(i)));
      }
    }

    public Pair next() {
      return all.get(at++);
    }
  }

  static final class Kept extends Batches {
    private final Pair first = new Pair(1, 1);

    public Pair[] next() {
      return new Pair[] {at++ == 0 ? first : new Pair(2, work(at))};
    }
  }

  static final class Counting extends Batches {
    private static int count;

    static Counting of() {
      count = 0;
      return new Counting();
    }

    public float[][] next() {
      count++;
      return rows(at++ + count);
    }
  }

  /** Shuffles in place, as most programs do. */
  static final class Shuffled extends Batches {
    private final Random random = new Random(3);
    private final int[] order = {0, 1, 2, 3, 4, 5};

    public float[][] next() {
      return rows(order[at++]);
    }

    @Override
    void reset() {
      super.reset();
      for (int i = order.length - 1; i > 0; i--) {
        int other = random.nextInt(i + 1);
        int one = order[i];
        order[i] = order[other];
        order[other] = one;
      }
    }
  }

  /** Iterates over a list of the program. */
  static final class Listed extends Batches {
    List<Integer> seeds;

    Listed(List<Integer> seeds) {
      this.seeds = seeds;
    }

    static Listed of() {
      return new Listed(new ArrayList<>(List.of(5, 3, 1, 0, 2, 4)));
    }

    public float[][] next() {
      return rows(seeds.get(at++));
    }

    @Override
    void reset() {
      super.reset();
      Collections.shuffle(seeds, new Random(seeds.get(0)));
    }
  }

  static final class NewOrder extends Batches {
    private Integer[] order = {2, 0, 1, 3, 4, 5};

    public float[][] next() {
      return rows(order[at++]);
    }

    @Override
    void reset() {
      super.reset();
      Integer[] next = order.clone();
      Collections.rotate(Arrays.asList(next), 1);
      order = next;
    }
  }

  /** Each batch contains the array with the order. */
  static final class ShownOrder extends Batches {
    int[] order = {0, 1, 2, 3, 4, 5};

    public Object[] next() {
      return new Object[] {rows(at++), order};
    }
  }

  /** {@code hasNext} makes the batch. */
  static final class Ahead extends Batches {
    private float @Nullable [][] ready;

    @Override
    boolean hasNext() {
      if (ready == null && at < BATCHES) {
        ready = rows(at++);
      }
      return ready != null;
    }

    public float[][] next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      float[][] batch = ready;
      ready = null;
      return batch;
    }
  }

  /** Remembers each batch. */
  static final class Remembering extends Batches {
    private float @Nullable [][] last;

    public float[][] next() {
      float[][] batch = rows(at++);
      last = batch;
      return batch;
    }

    @Override
    public String toString() {
      return last == null ? "none" : "some";
    }
  }

  /** Throws one exception in the middle of an epoch, and another at its end. */
  static final class Throwing extends Batches {
    private int calls;

    @Override
    boolean hasNext() {
      return true;
    }

    public float[][] next() {
      calls++;
      if (at == BATCHES) {
        throw new NoSuchElementException("after " + calls);
      } else if (at == 2) {
        at++;
        throw new IllegalStateException("corrupt, call " + calls);
      }
      return rows(at++);
    }
  }

  static final class NullAtEnd extends Batches {
    @Override
    boolean hasNext() {
      return true;
    }

    public float @Nullable [][] next() {
      return at == BATCHES ? null : rows(at++);
    }
  }

  static final class Drawing extends Batches {
    private final Random random = new Random(1);

    public float[][] next() {
      return rows(at++ + random.nextInt(3));
    }
  }

  static final class Timed extends Batches {
    public long[] next() {
      at++;
      return new long[] {System.nanoTime() < 0 ? 1 : 0};
    }
  }

  static class Open extends Batches {
    public float[][] next() {
      return new float[][] {{value(at++)}};
    }

    protected float value(int seed) {
      return work(seed);
    }
  }

  static final class Filled extends Open {
    private final float factor = 3;
    private int values;

    @Override
    protected float value(int seed) {
      values++;
      return factor * work(seed) + values;
    }
  }

  static final class Overriding extends Plain {
    private int count;

    @Override
    public float[][] next() {
      count++;
      float[][] batch = super.next();
      batch[0][0] += count;
      return batch;
    }
  }

  static final class Sized extends Batches {
    public float[][] next(int size) {
      float[][] batch = new float[size][];
      for (int i = 0; i < size; i++) {
        batch[i] = new float[] {work(at), i};
      }
      at++;
      return batch;
    }

    public float[][] next(long ignored) {
      return rows(-at++);
    }
  }

  static final class Named extends Batches {
    public float[] next(String first, String second) {
      return new float[] {work(at++), first.length(), second.length()};
    }
  }

  static final class Outer {
    private final float factor = 2;
    private int count;

    Batches inner() {
      return new Batches() {
        public float[] next() {
          return new float[] {factor * work(at++)};
        }
      };
    }

    Batches counting() {
      return new Batches() {
        public float[] next() {
          return new float[] {count++ + work(at++)};
        }
      };
    }
  }

  /** Has more numbers than one part of a layout holds. */
  static final class Numerous extends Batches {
    private final Many many = new Many();
    private boolean flag;
    private byte small = -1;
    private char letter = 'a';
    private short less = -2;
    private float ratio = Float.NaN;
    private double exact = -0.0;
    private long large = Long.MIN_VALUE;

    public Object[] next() {
      flag = !flag;
      small++;
      letter++;
      less--;
      large++;
      exact = exact == 0 ? Double.NaN : at;
      ratio = flag ? at : -0f;
      return new Object[] {
        rows(at++), new double[] {exact, ratio, large, less, letter, small, many.value}
      };
    }
  }

  static final class Many {
    final int value = 4;
  }

  record Recorded(int[] at) {
    public float[][] next() {
      return rows(at[0]++);
    }
  }

  static final class Itself extends Batches {
    public Object[] next() {
      return new Object[] {rows(at++), this};
    }
  }

  static final class Texts extends Batches {
    public String[] next() {
      return new String[] {"batch " + at++};
    }
  }

  static final class Locking extends Batches {
    public synchronized float[][] next() {
      return rows(at++);
    }
  }

  static final class Static {
    private static int at;

    public static float[][] next() {
      return rows(at++ % BATCHES);
    }
  }

  /** Fills an array that the loop passes. */
  static final class Given extends Batches {
    public float[] next(float[] into) {
      into[0] = work(at++);
      return into;
    }
  }

  /** A setting of the iterator, in a separate object. */
  static final class Knob {
    float factor = 1;
  }

  static final class Turned extends Batches {
    final Knob knob = new Knob();

    public float[] next() {
      return new float[] {knob.factor * work(at++)};
    }
  }

  /** Has a field that the loop sets. */
  static final class Settable extends Batches {
    float factor = 1;

    public float[] next() {
      return new float[] {factor * work(at++)};
    }
  }

  /** A call after the last batch would never return; the loop does not make such a call. */
  static final class Endless extends Batches {
    public float[][] next() {
      List<float[]> batch = new ArrayList<>();
      while (batch.size() < 2) {
        if (at < BATCHES) {
          batch.add(new float[] {work(at), batch.size()});
        }
      }
      at++;
      return batch.toArray(new float[0][]);
    }
  }

  /** Its batches depend on whether two fields refer to the same list. */
  static final class Twice extends Batches {
    List<Integer> all = new ArrayList<>(List.of(5, 4, 3, 2, 1, 0));
    List<Integer> seeds = all;

    public float[] next() {
      return new float[] {all == seeds ? 1 : 0, work(seeds.get(at++))};
    }
  }

  /** Iterates over another iterator of its kind. */
  static final class Chained extends Batches {
    private final Plain inner = new Plain();

    public float[][] next() {
      at++;
      return inner.next();
    }

    @Override
    void reset() {
      super.reset();
      inner.reset();
    }
  }
}
