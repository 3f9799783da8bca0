package io.coordl.reports.recording;

import java.io.EOFException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a recording through a window of {@value #WINDOW} bytes, with JFR's ways to write
 * numbers and texts. Reading past the {@linkplain #bound bound} is an {@link EOFException}: what is
 * read says of itself that it is longer than it is. Confined to one thread.
 */
final class FileBytes implements AutoCloseable {
  static final int WINDOW = 1 << 20;

  /** The ways a text is written. */
  private static final int NULL = 0;

  private static final int EMPTY = 1;
  private static final int OF_POOL = 2;
  private static final int UTF_8 = 3;
  private static final int CHARACTERS = 4;
  private static final int LATIN_1 = 5;

  private static final int LONGEST_NUMBER = 9;

  private static final VarHandle EIGHT =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** The bit of each byte of a number that says that more follow. */
  private static final long MORE = 0x8080808080808080L;

  private static final long NUMBERS = 0x0102030405060708L;

  /** Texts of a chunk that are written once and referred to by number. */
  @FunctionalInterface
  interface Texts {
    Texts NONE = number -> null;

    @Nullable RecordedText get(long number);
  }

  private final FileChannel channel;
  private final long length;
  private final byte[] window = new byte[WINDOW];
  private final RecordedText text = new RecordedText();
  private long windowStart;
  private int windowLength;
  private int at;
  private long bound;

  /** Up to where the window may be read: its end, or the bound. */
  private int limit;

  FileBytes(Path file) throws IOException {
    this.channel = FileChannel.open(file, StandardOpenOption.READ);
    this.length = channel.size();
    this.bound = length;
  }

  /** Bytes of the file when it was opened. */
  long length() {
    return length;
  }

  long position() {
    return windowStart + at;
  }

  /** Reads on from a position of the file, up to another. */
  void seek(long position, long end) throws EOFException {
    if (position < 0) {
      throw new EOFException("a position before the file");
    }
    long offset = position - windowStart;
    if (offset >= 0 && offset <= windowLength) {
      at = (int) offset;
    } else {
      windowStart = position;
      windowLength = 0;
      at = 0;
    }
    bound(end);
  }

  /** Allows to read up to a position. */
  void bound(long end) {
    bound = Math.min(end, length);
    limit = (int) Math.min(windowLength, bound - windowStart);
  }

  byte get() throws IOException {
    need(1);
    return window[at++];
  }

  /** Some bytes from the position on, which stays where it is; big endian. */
  ByteBuffer peek(int wanted) throws IOException {
    need(wanted);
    return ByteBuffer.wrap(window, at, wanted).slice();
  }

  /** Seven bits a byte, least first, the eighth saying that more follow; the ninth is whole. */
  long number() throws IOException {
    int start = at;
    if (start < limit && window[start] >= 0) {
      at = start + 1;
      return window[start];
    }
    return windowLength - start < LONGEST_NUMBER ? numberByByte() : numberAtOnce(start);
  }

  private long numberAtOnce(int start) throws IOException {
    // Much of the time of a report is spent here, so all bytes of a number are read at once.
    long eight = (long) EIGHT.get(window, start);
    long last = ~eight & MORE;
    // The lowest bit of last is the eighth of its byte; the product has that byte's number, from 1
    // on, at its top.
    int size = last == 0 ? LONGEST_NUMBER : (int) ((((last & -last) >>> 7) * NUMBERS) >>> 56);
    if (size > limit - start) {
      throw new EOFException();
    }
    at = start + size;
    // The bits up to the one that ends the number, or all.
    long sevens = eight & (last ^ (last - 1)) & ~MORE;
    sevens = (sevens & 0x007F007F007F007FL) | (sevens & 0x7F007F007F007F00L) >>> 1;
    sevens = (sevens & 0x00003FFF00003FFFL) | (sevens & 0x3FFF00003FFF0000L) >>> 2;
    sevens = (sevens & 0x000000000FFFFFFFL) | (sevens & 0x0FFFFFFF00000000L) >>> 4;
    return last == 0 ? sevens | (window[start + 8] & 0xFFL) << 56 : sevens;
  }

  private long numberByByte() throws IOException {
    long number = 0;
    for (int shift = 0; shift < 56; shift += 7) {
      byte next = get();
      number |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return number;
      }
    }
    return number | (get() & 0xFFL) << 56;
  }

  /** A number of as many bytes as there are in it, the greatest first. */
  long wide(int size) throws IOException {
    long number = 0;
    for (int i = 0; i < size; i++) {
      number = number << Byte.SIZE | (get() & 0xFF);
    }
    return number;
  }

  /** A number of things that follow, of which each takes at least a byte. */
  int count() throws IOException {
    long count = number();
    if (count < 0 || count > bound - position() || count > Integer.MAX_VALUE) {
      throw new EOFException("a count that cannot be");
    }
    return (int) count;
  }

  void skip(long bytes) throws IOException {
    if (bytes < 0 || bytes > bound - position()) {
      throw new EOFException();
    }
    seek(position() + bytes, bound);
  }

  /**
   * A text, or null; the same object every time, unless it is of the pool. It stays as it is until
   * the next text is read, if {@link #hold} has been called for what it is a part of.
   */
  @Nullable RecordedText text(Texts pool) throws IOException {
    int encoding = get();
    switch (encoding) {
      case NULL -> {
        return null;
      }
      case EMPTY -> text.set(window, at, 0);
      case OF_POOL -> {
        return pool.get(number());
      }
      case UTF_8 -> {
        byte[] taken = take(count());
        text.set(taken, 0, taken.length);
      }
      case LATIN_1 -> set(new String(take(count()), StandardCharsets.ISO_8859_1));
      case CHARACTERS -> characters(count());
      default -> throw new EOFException("a text of an unknown encoding");
    }
    return text;
  }

  /** Passes a text over: one that was read before stays as it is. */
  void skipText() throws IOException {
    int encoding = get();
    switch (encoding) {
      case NULL, EMPTY -> {}
      case OF_POOL -> number();
      case UTF_8, LATIN_1 -> skip(count());
      case CHARACTERS -> {
        for (int left = count(); left > 0; left--) {
          number();
        }
      }
      default -> throw new EOFException("a text of an unknown encoding");
    }
  }

  private void set(String characters) {
    byte[] utf8 = characters.getBytes(StandardCharsets.UTF_8);
    text.set(utf8, 0, utf8.length);
  }

  private byte[] take(int size) throws IOException {
    byte[] bytes = new byte[size];
    for (int done = 0; done < size; ) {
      need(1);
      int some = Math.min(size - done, limit - at);
      System.arraycopy(window, at, bytes, done, some);
      at += some;
      done += some;
    }
    return bytes;
  }

  /** Nearly always ASCII, of which each character is the byte it is. */
  private void characters(int size) throws IOException {
    if (size <= WINDOW) {
      need(size);
      if (text.set(window, at, size)) {
        at += size;
        return;
      }
    }
    char[] characters = new char[size];
    for (int i = 0; i < size; i++) {
      characters[i] = (char) number();
    }
    set(new String(characters));
  }

  /**
   * Makes sure that all bytes up to a position lie in the window, where they stay until there is
   * read on from there. Returns false if they are too many.
   */
  boolean hold(long end) throws IOException {
    long wanted = end - position();
    if (wanted > WINDOW) {
      return false;
    }
    need((int) wanted);
    return true;
  }

  /** Makes sure that so many bytes from the position on are in the window. */
  private void need(int wanted) throws IOException {
    if (limit - at < wanted) {
      load(wanted);
    }
  }

  private void load(int wanted) throws IOException {
    windowStart += at;
    at = 0;
    windowLength = 0;
    limit = 0;
    if (wanted > bound - windowStart) {
      throw new EOFException();
    }
    ByteBuffer into = ByteBuffer.wrap(window);
    while (into.hasRemaining() && channel.read(into, windowStart + into.position()) >= 0) {}
    windowLength = into.position();
    if (windowLength < wanted) {
      throw new IOException("file shrank while it was read");
    }
    limit = (int) Math.min(windowLength, bound - windowStart);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
