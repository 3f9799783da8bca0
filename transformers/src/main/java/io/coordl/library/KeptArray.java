package io.coordl.library;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import org.jspecify.annotations.Nullable;

/**
 * An array of unsigned bytes in three dimensions as it is kept: the dimensions as little-endian
 * ints, and from {@link #HEADER_BYTES} on the values, the last dimension running fastest.
 * Immutable.
 *
 * @param values from 0 to their number; read through duplicates, never written
 */
public record KeptArray(int first, int second, int third, ByteBuffer values) {
  private static final int HEADER_BYTES = 16;

  /** Fits the first-level cache, bytes and floats together. */
  private static final int CHUNK = 4096;

  /** What is kept; null if it is no such array. */
  public static @Nullable KeptArray read(ByteBuffer kept) {
    if (kept.remaining() < HEADER_BYTES) {
      return null;
    }
    ByteBuffer header = kept.slice().order(ByteOrder.LITTLE_ENDIAN);
    int first = header.getInt(0);
    int second = header.getInt(4);
    int third = header.getInt(8);
    int bytes = kept.remaining() - HEADER_BYTES;
    return first > 0 && second > 0 && third > 0 && bytes == (long) first * second * third
        ? new KeptArray(first, second, third, header.slice(HEADER_BYTES, bytes))
        : null;
  }

  /** Bytes it takes when kept. */
  public long bytes() {
    return (long) HEADER_BYTES + values.remaining();
  }

  /** Puts each value into {@code target}, from its position on, as a float from 0 to 255. */
  public void putFloats(FloatBuffer target) {
    ByteBuffer source = values.duplicate();
    byte[] bytes = new byte[CHUNK];
    float[] floats = new float[CHUNK];
    while (source.hasRemaining()) {
      int count = Math.min(CHUNK, source.remaining());
      source.get(bytes, 0, count);
      for (int i = 0; i < count; i++) {
        floats[i] = bytes[i] & 0xff;
      }
      target.put(floats, 0, count);
    }
  }

  /** Writes what {@link #read} reads. */
  public void writeTo(ByteBuffer target) {
    ByteBuffer kept = target.slice().order(ByteOrder.LITTLE_ENDIAN);
    kept.putInt(0, first).putInt(4, second).putInt(8, third);
    kept.position(HEADER_BYTES);
    kept.put(values.duplicate());
  }
}
