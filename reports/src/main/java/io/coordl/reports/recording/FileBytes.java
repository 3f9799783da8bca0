package io.coordl.reports.recording;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The bytes of a recording through a window of {@value #WINDOW} bytes. Reading past the end that
 * {@link #seek} was given is an {@link EOFException}: the recording says of a part that it is
 * longer than it is. Confined to one thread.
 */
final class FileBytes implements AutoCloseable {
  static final int WINDOW = 1 << 20;

  private final FileChannel channel;
  private final long length;
  private final byte[] window = new byte[WINDOW];
  private long windowStart;
  private int windowLength;
  private int at;
  private long bound;

  FileBytes(Path file) throws IOException {
    this.channel = FileChannel.open(file, StandardOpenOption.READ);
    this.length = channel.size();
    this.bound = length;
  }

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
    bound = Math.min(end, length);
  }

  /** Some bytes from the position on, which stays where it is; big endian. */
  ByteBuffer peek(int wanted) throws IOException {
    need(wanted);
    return ByteBuffer.wrap(window, at, wanted).slice();
  }

  /** Seven bits a byte, least first, the eighth saying that more follow; the ninth is whole. */
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
    need(1);
    return window[at++];
  }

  /** Makes sure that so many bytes from the position on are in the window. */
  private void need(int wanted) throws IOException {
    if (wanted > bound - position()) {
      throw new EOFException();
    }
    if (wanted > windowLength - at) {
      load(wanted);
    }
  }

  private void load(int wanted) throws IOException {
    windowStart += at;
    at = 0;
    ByteBuffer into = ByteBuffer.wrap(window);
    while (into.hasRemaining() && channel.read(into, windowStart + into.position()) >= 0) {}
    windowLength = into.position();
    if (windowLength < wanted) {
      throw new IOException("file shrank while it was read");
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
