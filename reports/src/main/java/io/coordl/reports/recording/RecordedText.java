package io.coordl.reports.recording;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A text where it lies, in UTF-8, so that a name that is known already costs no memory. One that a
 * {@link FileBytes} returns is valid until the next is read; {@link #copy} lasts.
 */
final class RecordedText {
  /** Eight bytes at once, and the bits of them that are set in none that is ASCII. */
  private static final VarHandle EIGHT =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final long NOT_ASCII = 0x8080808080808080L;

  /** Odd, with its bits spread: 2^64 divided by the golden ratio. */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private byte[] bytes = {};
  private int from;
  private int length;
  private int hash;

  static RecordedText of(String text) {
    return new RecordedText().set(text.getBytes(StandardCharsets.UTF_8));
  }

  private RecordedText set(byte[] utf8) {
    set(utf8, 0, utf8.length);
    return this;
  }

  /** Sets this to a part of an array. Returns false if not all of it is ASCII. */
  boolean set(byte[] utf8, int start, int size) {
    bytes = utf8;
    from = start;
    length = size;
    long all = 0;
    long mixed = size;
    int next = start;
    int end = start + size;
    for (; next + Long.BYTES <= end; next += Long.BYTES) {
      long eight = (long) EIGHT.get(utf8, next);
      all |= eight;
      mixed = (mixed ^ eight) * SPREAD;
      mixed ^= mixed >>> 32;
    }
    for (; next < end; next++) {
      all |= utf8[next];
      mixed = (mixed ^ utf8[next]) * SPREAD;
    }
    mixed = (mixed ^ mixed >>> 29) * SPREAD;
    hash = (int) (mixed >>> 32);
    return (all & NOT_ASCII) == 0;
  }

  /** Sets this to a part of an array whose hash is known. */
  void set(byte[] utf8, int start, int size, int hashOfThem) {
    bytes = utf8;
    from = start;
    length = size;
    hash = hashOfThem;
  }

  /** In bytes. */
  int length() {
    return length;
  }

  void copyTo(byte[] target, int at) {
    System.arraycopy(bytes, from, target, at, length);
  }

  /** Of its bytes; the same on every machine of the same byte order only. */
  int hash() {
    return hash;
  }

  byte[] copy() {
    return Arrays.copyOfRange(bytes, from, from + length);
  }

  boolean is(byte[] utf8) {
    return Arrays.equals(bytes, from, from + length, utf8, 0, utf8.length);
  }

  @Override
  public String toString() {
    return new String(bytes, from, length, StandardCharsets.UTF_8);
  }
}
