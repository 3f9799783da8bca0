package io.coordl.library.djl;

import io.coordl.bridge.ForkableRandom;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One epoch of a trainer over a data set, or one evaluation, in the order of its sampler, and how
 * far the program has come in it. Used by the thread that trains, but for the order, which others
 * may walk.
 */
final class DataEpoch {
  private final WeakReference<Object> data;

  /** Of all that the thread has begun. */
  final int number;

  /** Which of those that the thread has used. */
  final int dataset;

  /** Of all that it has begun over this one. */
  final int count;

  private final byte[] random;
  private final List<Integer> batches = new ArrayList<>();
  private int taken;
  private volatile boolean ended;

  /** The next one; {@code random} is DJL's generator before the sampler draws, null if unknown. */
  DataEpoch(Object data, int number, int dataset, int count, @Nullable ForkableRandom random) {
    this.data = new WeakReference<>(data);
    this.number = number;
    this.dataset = dataset;
    this.count = count;
    this.random = bytes(random);
  }

  boolean goesOver(Object set) {
    return data.refersTo(set);
  }

  /** Whether the program has dropped the data set. */
  boolean isDropped() {
    return data.refersTo(null);
  }

  /** Whether the program has taken all there are, as far as that is known. */
  boolean isOver() {
    synchronized (batches) {
      return ended && taken >= batches.size();
    }
  }

  /** Whether the program has taken some, and not all. */
  boolean isLeft() {
    return taken > 0 && !isOver();
  }

  void take() {
    taken++;
  }

  /** Where DJL's generator is; empty if that is not known. */
  static byte[] bytes(@Nullable ForkableRandom random) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      if (random != null) {
        random.save(new DataOutputStream(bytes));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // It is written to memory.
    }
    return bytes.toByteArray();
  }

  static void restore(@Nullable ForkableRandom random, byte[] bytes) {
    try {
      if (random != null && bytes.length > 0) {
        random.restore(new DataInputStream(new ByteArrayInputStream(bytes)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // There is nothing to read but bytes in memory.
    }
  }

  /** Writes which one it is, and where the program is in it. */
  void write(DataOutputStream out) throws IOException {
    out.writeInt(number);
    out.writeInt(dataset);
    out.writeInt(count);
    out.writeInt(taken);
    out.writeLong(order(taken));
    out.writeInt(random.length);
    out.write(random);
  }

  /** What tells the order of the first batches from others. */
  long order(int count) {
    long hash = 1;
    synchronized (batches) {
      for (int i = 0; i < Math.min(count, batches.size()); i++) {
        hash = 31 * hash + batches.get(i);
      }
    }
    return hash;
  }

  /** The sampler's order, followed. */
  <T> Iterator<T> follow(Iterator<T> own) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        boolean more = own.hasNext();
        ended = !more;
        return more;
      }

      @Override
      public T next() {
        T next = own.next();
        synchronized (batches) {
          batches.add(next == null ? 0 : next.hashCode());
        }
        return next;
      }
    };
  }

  /** Leaves out what the program took in an earlier job; fewer if the order has not so many. */
  void skip(Iterator<?> followed, int count) {
    while (taken < count && followed.hasNext()) {
      followed.next();
      taken++;
    }
  }
}
