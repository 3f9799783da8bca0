package io.coordl.pipeline;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A cached three-dimensional array of unsigned bytes: its dimensions as little-endian ints,
 * followed at {@link #HEADER_BYTES} by the values in row-major order. Immutable.
 *
 * @param values the values, from index 0 to the limit; read through duplicates, never written
 */
public record KeptArray(int first, int second, int third, ByteBuffer values) {
  private static final int HEADER_BYTES = 16;

  /** Reads a cached array; returns null if the bytes are not one. */
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

  public long bytes() {
    return (long) HEADER_BYTES + values.remaining();
  }

  /** Writes the format that {@link #read} reads. */
  public void writeTo(ByteBuffer target) {
    ByteBuffer kept = target.slice().order(ByteOrder.LITTLE_ENDIAN);
    kept.putInt(0, first).putInt(4, second).putInt(8, third);
    kept.position(HEADER_BYTES);
    kept.put(values.duplicate());
  }
}
