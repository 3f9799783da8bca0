package io.coordl.library.declared;

import io.coordl.pipeline.Checksum;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.InvalidMarkException;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.List;

/** Reads and restores the state of JDK buffers. */
final class Buffers {
  private static final int NONE = -1;

  private Buffers() {}

  /** Returns the byte order of the buffer's memory. */
  static ByteOrder orderOf(Buffer buffer) {
    return buffer instanceof ByteBuffer bytes
        ? bytes.order()
        : buffer instanceof ShortBuffer shorts
            ? shorts.order()
            : buffer instanceof CharBuffer chars
                ? chars.order()
                : buffer instanceof IntBuffer ints
                    ? ints.order()
                    : buffer instanceof FloatBuffer floats
                        ? floats.order()
                        : buffer instanceof LongBuffer longs
                            ? longs.order()
                            : ((DoubleBuffer) buffer).order();
  }

  /** Returns the position of the buffer's mark; negative if it has none. */
  static int markOf(Buffer buffer) {
    try {
      return buffer.duplicate().reset().position();
    } catch (InvalidMarkException e) {
      return NONE;
    }
  }

  /** Sets the position, limit and mark of a new buffer; a negative mark sets none. */
  static void set(Buffer buffer, int position, int limit, int mark) {
    buffer.clear();
    if (mark != NONE) {
      buffer.position(mark).mark();
    }
    // Set last: as in the original, a limit or position below the mark discards it.
    buffer.limit(limit).position(position);
  }

  /**
   * True if direct buffers certainly share no memory. Changes the first element of each and
   * restores it, so no other thread may have access to them yet. The first elements suffice: if two
   * buffers overlap, one of them holds the first byte of the other.
   */
  static boolean areApart(List<Buffer> direct) {
    if (direct.size() < 2) {
      return true;
    }
    for (Buffer one : direct) {
      if (one.isReadOnly()) {
        return false; // Cannot be tested.
      }
    }
    for (Buffer one : direct) {
      if (one.capacity() == 0) {
        continue;
      }
      for (Buffer other : direct) {
        if (other != one && sees(other, one)) {
          return false;
        }
      }
    }
    return true;
  }

  /** True if changing the first element of {@code changed} also changes {@code other}. */
  private static boolean sees(Buffer other, Buffer changed) {
    long[] before = checksum(other);
    flip(changed);
    long[] after = checksum(other);
    flip(changed);
    return before[0] != after[0] || before[1] != after[1];
  }

  private static long[] checksum(Buffer buffer) {
    ElementType kind = ElementType.of(buffer);
    ByteBuffer copy = ByteBuffer.allocate(buffer.capacity() * kind.size);
    kind.writeMemory(buffer, copy);
    return Checksum.ofArray(copy.array());
  }

  private static void flip(Buffer buffer) {
    switch (ElementType.of(buffer)) {
      case SHORTS -> ((ShortBuffer) buffer).put(0, (short) ~((ShortBuffer) buffer).get(0));
      case CHARS -> ((CharBuffer) buffer).put(0, (char) ~((CharBuffer) buffer).get(0));
      case INTS -> ((IntBuffer) buffer).put(0, ~((IntBuffer) buffer).get(0));
      case LONGS -> ((LongBuffer) buffer).put(0, ~((LongBuffer) buffer).get(0));
      case FLOATS -> {
        FloatBuffer floats = (FloatBuffer) buffer;
        floats.put(0, Float.intBitsToFloat(~Float.floatToRawIntBits(floats.get(0))));
      }
      case DOUBLES -> {
        DoubleBuffer doubles = (DoubleBuffer) buffer;
        doubles.put(0, Double.longBitsToDouble(~Double.doubleToRawLongBits(doubles.get(0))));
      }
      default -> ((ByteBuffer) buffer).put(0, (byte) ~((ByteBuffer) buffer).get(0));
    }
  }
}
