package io.coordl.reports.recording;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Reads the bytes of a recording through a window of {@value #WINDOW} bytes. Reading past the end
 * given to {@link #seek} throws an {@link EOFException}: the recording claims a length that it does
 * not have. Confined to one thread.
 */
final class FileBytes implements AutoCloseable {
  static final int WINDOW = 1 << 20;

  private final FileChannel channel;
  final long length;
  private final ByteBuffer window = ByteBuffer.allocate(WINDOW).limit(0);
  private long windowStart;
  private long bound;

  FileBytes(Path file) throws IOException {
    this.channel = FileChannel.open(file, StandardOpenOption.READ);
    this.length = channel.size();
    this.bound = length;
  }

  long position() {
    return windowStart + window.position();
  }

  /** Sets the position, and the end of the readable part. */
  void seek(long position, long end) {
    long offset = position - windowStart;
    if (offset >= 0 && offset <= window.limit()) {
      window.position((int) offset);
    } else {
      windowStart = position;
      window.limit(0);
    }
    bound = Math.min(end, length);
  }

  /** Returns the next bytes, big-endian, without advancing the position. */
  ByteBuffer peek(int count) throws IOException {
    ensureAvailable(count);
    return window.slice(window.position(), count);
  }

  /**
   * Reads a variable-length number: seven bits per byte, least significant first; the eighth bit
   * means that more follow. The ninth byte has eight bits.
   */
  long number() throws IOException {
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

  private byte get() throws IOException {
    ensureAvailable(1);
    return window.get();
  }

  /** Ensures that the window contains the next {@code count} bytes. */
  private void ensureAvailable(int count) throws IOException {
    if (count > bound - position()) {
      throw new EOFException();
    }
    if (count > window.remaining()) {
      windowStart = position();
      window.clear();
      while (window.hasRemaining() && channel.read(window, position()) >= 0) {}
      window.flip();
      if (window.limit() < count) {
        throw new IOException("file shrank while being read");
      }
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
