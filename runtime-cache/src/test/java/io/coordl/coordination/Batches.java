package io.coordl.coordination;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/** Batches whose bytes identify them: a checksum of all later bytes, then the batch's items. */
final class Batches {
  static final int INTS = 2048;

  private Batches() {}

  /** Returns a permutation of the items, by seed. */
  static BatchOrder order(int items, int batchSize, long seed) {
    int[] numbers = new int[items];
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < items; i++) {
      int j = random.nextInt(i + 1);
      numbers[i] = numbers[j];
      numbers[j] = i;
    }
    return BatchOrder.evenly(numbers, batchSize);
  }

  static PreparedBatch prepared(int[] items, long salt) {
    return new PreparedBatch() {
      @Override
      public long bytes() {
        return 4L * INTS;
      }

      @Override
      public void writeTo(ByteBuffer target) {
        fill(target, items, salt);
      }

      @Override
      public void close() {}
    };
  }

  /**
   * Returns a copy of the batch, as a program takes it; null if the job must prepare it locally.
   */
  static ByteBuffer take(SharedEpoch epoch, int batch) {
    try {
      return epoch.use(batch, Batches::copy);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static ByteBuffer copy(ByteBuffer staged) {
    return ByteBuffer.allocate(staged.capacity()).order(staged.order()).put(staged).flip();
  }

  private static void fill(ByteBuffer target, int[] items, long salt) {
    SplittableRandom random = new SplittableRandom(salt + items[0]);
    for (int i = 0; i < INTS - 1; i++) {
      int value = i == 0 ? items.length : i <= items.length ? items[i - 1] : random.nextInt();
      target.putInt(4 + 4 * i, value);
    }
    target.putInt(0, checksum(target));
  }

  private static int checksum(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.slice(4, 4 * INTS - 4));
    return (int) crc.getValue();
  }

  /** Returns the items named in the batch's bytes. */
  static int[] items(ByteBuffer bytes) {
    int[] items = new int[Math.max(0, Math.min(bytes.getInt(4), INTS - 2))];
    for (int i = 0; i < items.length; i++) {
      items[i] = bytes.getInt(8 + 4 * i);
    }
    return items;
  }

  /**
   * Whether the bytes are a batch of exactly these items. Afterwards overwrites some of them, if
   * writable, so that a second check of the same bytes fails.
   */
  static boolean checkAndOverwrite(int[] items, ByteBuffer bytes) {
    boolean right =
        bytes.order() == ByteOrder.nativeOrder()
            && bytes.capacity() == 4 * INTS
            && bytes.getInt(0) == checksum(bytes)
            && bytes.getInt(4) == items.length;
    for (int i = 0; right && i < items.length; i++) {
      right = bytes.getInt(8 + 4 * i) == items[i];
    }
    for (int i = 0; !bytes.isReadOnly() && i < bytes.capacity(); i += 1024) {
      bytes.putInt(i, -1);
    }
    return right;
  }

  /** Batches that the job prepared locally, for any reason. */
  static long alone(StagingCounters counters) {
    return counters.now().nobody
        + counters.now().notStaged
        + counters.now().late
        + counters.now().lost;
  }

  static boolean isComplete(BatchOrder order, int items) {
    int[] all = order.items.clone();
    Arrays.sort(all);
    for (int i = 0; i < all.length; i++) {
      if (all[i] != i) {
        return false;
      }
    }
    return all.length == items;
  }
}
