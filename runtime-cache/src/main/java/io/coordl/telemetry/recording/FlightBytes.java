package io.coordl.telemetry.recording;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Bytes in the format of JDK Flight Recorder: integers with seven bits per byte, lowest bits first;
 * floating-point numbers in eight bytes; and texts in UTF-8. Grows as needed; not safe for
 * concurrent use.
 */
final class FlightBytes {
  private static final int NULL = 0;
  private static final int EMPTY = 1;
  private static final int UTF_8 = 3;

  /** Bytes of an event's size field: always four, because the size is only known at the end. */
  private static final int SIZE_BYTES = 4;

  private byte[] bytes = new byte[1 << 13];
  private int size;

  int size() {
    return size;
  }

  byte[] array() {
    return bytes;
  }

  void clear() {
    size = 0;
  }

  /** Discards everything after the first {@code length} bytes. */
  void cut(int length) {
    size = length;
  }

  /** Begins an event; returns its offset, for {@link #end}. */
  int begin(long type) {
    int at = size;
    reserve(SIZE_BYTES);
    size += SIZE_BYTES;
    number(type);
    return at;
  }

  /** Ends the event that began at {@code at}, by writing its size. */
  void end(int at) {
    int left = size - at;
    for (int i = 0; i < SIZE_BYTES; i++) {
      bytes[at + i] = (byte) (i < SIZE_BYTES - 1 ? left | 0x80 : left);
      left >>>= 7;
    }
  }

  void number(long value) {
    reserve(9);
    long left = value;
    for (int i = 0; i < 8; i++) {
      if ((left & ~0x7FL) == 0) {
        bytes[size++] = (byte) left;
        return;
      }
      bytes[size++] = (byte) (left | 0x80);
      left >>>= 7;
    }
    bytes[size++] = (byte) left;
  }

  void flag(boolean value) {
    reserve(1);
    bytes[size++] = (byte) (value ? 1 : 0);
  }

  void real(double value) {
    reserve(Double.BYTES);
    ByteBuffer.wrap(bytes).putDouble(size, value);
    size += Double.BYTES;
  }

  void text(@Nullable String text) {
    if (text == null) {
      number(NULL);
    } else if (text.isEmpty()) {
      number(EMPTY);
    } else {
      byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
      number(UTF_8);
      number(encoded.length);
      raw(encoded, encoded.length);
    }
  }

  void raw(byte[] from, int length) {
    reserve(length);
    System.arraycopy(from, 0, bytes, size, length);
    size += length;
  }

  private void reserve(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }
}
