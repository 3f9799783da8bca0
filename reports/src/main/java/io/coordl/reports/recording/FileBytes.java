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

  /** Eight bytes at once, and the bits of them that are set in none that is ASCII. */
  private static final VarHandle EIGHT =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final long NOT_ASCII = 0x8080808080808080L;

  /** Texts of a chunk that are written once and referred to by number. */
  @FunctionalInterface
  interface Texts {
    Texts NONE = number -> null;

    @Nullable String get(long number);
  }

  private final FileChannel channel;
  private final long length;
  private final byte[] window = new byte[WINDOW];
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
  void seek(long position, long end) {
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
    int next = at;
    if (limit - next < LONGEST_NUMBER) {
      return numberByByte();
    }
    // Nearly all of the time of a report is spent here.
    byte[] bytes = window;
    long number = 0;
    for (int shift = 0; shift < 56; shift += 7) {
      byte part = bytes[next++];
      number |= (part & 0x7FL) << shift;
      if (part >= 0) {
        at = next;
        return number;
      }
    }
    at = next + 1;
    return number | (bytes[next] & 0xFFL) << 56;
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

  /** A text, or null. */
  @Nullable String text(Texts pool) throws IOException {
    int encoding = get();
    return switch (encoding) {
      case NULL -> null;
      case EMPTY -> "";
      case OF_POOL -> pool.get(number());
      case UTF_8, LATIN_1 -> {
        int size = count();
        yield encoding == UTF_8
            ? new String(take(size), StandardCharsets.UTF_8)
            : new String(take(size), StandardCharsets.ISO_8859_1);
      }
      case CHARACTERS -> characters(count());
      default -> throw new EOFException("a text of an unknown encoding");
    };
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
  private String characters(int size) throws IOException {
    if (size <= WINDOW) {
      need(size);
      if (isAscii(window, at, at + size)) {
        String text = new String(window, at, size, StandardCharsets.ISO_8859_1);
        at += size;
        return text;
      }
    }
    char[] characters = new char[size];
    for (int i = 0; i < size; i++) {
      characters[i] = (char) number();
    }
    return new String(characters);
  }

  private static boolean isAscii(byte[] bytes, int from, int to) {
    int next = from;
    for (; next + Long.BYTES <= to; next += Long.BYTES) {
      if (((long) EIGHT.get(bytes, next) & NOT_ASCII) != 0) {
        return false;
      }
    }
    for (; next < to; next++) {
      if (bytes[next] < 0) {
        return false;
      }
    }
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
