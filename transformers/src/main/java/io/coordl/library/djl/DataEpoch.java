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
 * One epoch, or one evaluation, of a trainer over a data set: the sampler's order and the program's
 * position in it. Used by the training thread, except for the order, which other threads may
 * iterate over.
 */
final class DataEpoch {
  private final WeakReference<Object> data;

  /** Its number among all epochs that the thread has begun. */
  final int number;

  /** The number of its data set among those that the thread has used. */
  final int dataset;

  /** Its number among the thread's epochs over this data set. */
  final int count;

  private final byte[] random;
  private final List<Integer> batches = new ArrayList<>();
  private int taken;
  private volatile boolean ended;

  /**
   * Creates an epoch; {@code random} is DJL's generator before the sampler draws, null if unknown.
   */
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

  /** Whether the program has taken all batches; false while their number is unknown. */
  boolean isOver() {
    synchronized (batches) {
      return ended && taken >= batches.size();
    }
  }

  /** Whether the program has taken some batches, but not all. */
  boolean isPartlyTaken() {
    return taken > 0 && !isOver();
  }

  void take() {
    taken++;
  }

  /** Returns the state of DJL's generator; empty if unknown. */
  static byte[] bytes(@Nullable ForkableRandom random) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      if (random != null) {
        random.save(new DataOutputStream(bytes));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Cannot happen: it is written to memory.
    }
    return bytes.toByteArray();
  }

  static void restore(@Nullable ForkableRandom random, byte[] bytes) {
    try {
      if (random != null && bytes.length > 0) {
        random.restore(new DataInputStream(new ByteArrayInputStream(bytes)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Cannot happen: the bytes are in memory.
    }
  }

  /** Writes the epoch's numbers and the program's position in it. */
  void write(DataOutputStream out) throws IOException {
    out.writeInt(number);
    out.writeInt(dataset);
    out.writeInt(count);
    out.writeInt(taken);
    out.writeLong(order(taken));
    out.writeInt(random.length);
    out.write(random);
  }

  /** Returns a checksum of the order of the first {@code count} batches. */
  long order(int count) {
    long hash = 1;
    synchronized (batches) {
      for (int i = 0; i < Math.min(count, batches.size()); i++) {
        hash = 31 * hash + batches.get(i);
      }
    }
    return hash;
  }

  /** Returns the sampler's batches, and records their order. */
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

  /**
   * Skips the batches that the program took in an earlier job, or fewer if the order is shorter.
   */
  void skip(Iterator<?> followed, int count) {
    while (taken < count && followed.hasNext()) {
      followed.next();
      taken++;
    }
  }
}
