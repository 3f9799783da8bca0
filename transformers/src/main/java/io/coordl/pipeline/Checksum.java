package io.coordl.pipeline;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Checksums of sequences of numbers, cheap enough to be computed for each file of each batch.
 * Protects against accidents, not against deliberate collisions.
 */
public final class Checksum {
  /** The checksum of no numbers. */
  public static final long NONE = 0x9E3779B97F4A7C15L;

  private static final int CHUNK = 8192;

  private Checksum() {}

  /** Returns the checksum of these numbers. */
  public static long of(long... numbers) {
    long checksum = NONE;
    for (long number : numbers) {
      checksum = mix(checksum, number);
    }
    return checksum;
  }

  /** Extends the checksum {@code before} by one number. */
  public static long mix(long before, long number) {
    return before * 5 + spread(before ^ number);
  }

  /**
   * Returns a 128-bit checksum of the content and length of a primitive array. Hashes four 64-bit
   * words at a time, each in its own lane; different words always bring a lane into different
   * states. Runs at about memory speed.
   */
  public static long[] ofArray(Object array) {
    ByteBuffer chunk = ByteBuffer.allocate(CHUNK).order(ByteOrder.nativeOrder());
    int length = Array.getLength(array);
    long[] lanes = {NONE, 1, 2, length};
    int maxElements = CHUNK / Double.BYTES;
    for (int from = 0; from < length; from += maxElements) {
      int bytes = put(array, from, Math.min(maxElements, length - from), chunk);
      // The last word may end in bytes of the previous chunk, which depend only on the array.
      for (int at = fill(lanes, chunk, bytes); at < bytes; at += Long.BYTES) {
        lanes[0] = lane(lanes[0], chunk.getLong(at));
      }
    }
    return new long[] {of(lanes), of(lanes[3], lanes[2], lanes[1], lanes[0])};
  }

  /** Extends the checksum {@code before} by the remaining bytes, at about memory speed. */
  public static long mix(long before, ByteBuffer bytes) {
    ByteBuffer from = bytes.slice().order(ByteOrder.nativeOrder());
    int length = from.remaining();
    long[] lanes = {mix(before, length), 1, 2, length};
    int at = fill(lanes, from, length);
    for (; at + Long.BYTES <= length; at += Long.BYTES) {
      lanes[0] = lane(lanes[0], from.getLong(at));
    }
    for (; at < length; at++) {
      lanes[0] = lane(lanes[0], from.get(at));
    }
    return of(lanes);
  }

  /** Hashes the first bytes, in blocks of four longs; returns the number of bytes hashed. */
  private static int fill(long[] lanes, ByteBuffer from, int bytes) {
    int at = 0;
    for (; at + 4 * Long.BYTES <= bytes; at += 4 * Long.BYTES) {
      for (int lane = 0; lane < 4; lane++) {
        lanes[lane] = lane(lanes[lane], from.getLong(at + lane * Long.BYTES));
      }
    }
    return at;
  }

  private static long lane(long before, long number) {
    return Long.rotateLeft((before ^ number) * 0x87c37b91114253d5L, 29) * 0x4cf5ad432745937fL;
  }

  /** Copies elements into a chunk and returns their size in bytes. */
  private static int put(Object array, int from, int count, ByteBuffer chunk) {
    if (array instanceof byte[] bytes) {
      chunk.put(0, bytes, from, count);
      return count;
    } else if (array instanceof short[] shorts) {
      chunk.asShortBuffer().put(shorts, from, count);
      return count * Short.BYTES;
    } else if (array instanceof char[] chars) {
      chunk.asCharBuffer().put(chars, from, count);
      return count * Character.BYTES;
    } else if (array instanceof int[] ints) {
      chunk.asIntBuffer().put(ints, from, count);
      return count * Integer.BYTES;
    } else if (array instanceof float[] floats) {
      chunk.asFloatBuffer().put(floats, from, count);
      return count * Float.BYTES;
    } else if (array instanceof long[] longs) {
      chunk.asLongBuffer().put(longs, from, count);
      return count * Long.BYTES;
    } else if (array instanceof double[] doubles) {
      chunk.asDoubleBuffer().put(doubles, from, count);
      return count * Double.BYTES;
    }
    boolean[] flags = (boolean[]) array;
    for (int i = 0; i < count; i++) {
      chunk.put(i, (byte) (flags[from + i] ? 1 : 0));
    }
    return count;
  }

  /** Finalizer of MurmurHash3 (Austin Appleby): each bit depends on all bits of the number. */
  private static long spread(long number) {
    long spread = (number ^ number >>> 33) * 0xff51afd7ed558ccdL;
    spread = (spread ^ spread >>> 33) * 0xc4ceb9fe1a85ec53L;
    return spread ^ spread >>> 33;
  }
}
