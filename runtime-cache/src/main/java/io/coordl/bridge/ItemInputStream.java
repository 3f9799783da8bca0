package io.coordl.bridge;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What {@link java.nio.file.Files#newInputStream} returns for an item: like the JDK's stream over a
 * channel (uninterruptible, {@link ClosedChannelException} when closed), but served by the runtime,
 * or observed around the JDK's own. As in that, threads that read from it take turns.
 */
final class ItemInputStream extends InputStream {
  private final ItemCursor cursor;
  private final @Nullable InputStream own;
  private volatile boolean closed;

  /**
   * A stream of the runtime's bytes, or where {@code own} is given, of the program's own stream.
   */
  ItemInputStream(ItemCursor cursor, @Nullable InputStream own) {
    this.cursor = cursor;
    this.own = own;
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
  }

  @Override
  public synchronized int read() throws IOException {
    if (own != null) {
      long start = System.nanoTime();
      int value = own.read();
      cursor.fetched(start, value < 0 ? 0 : 1);
      return value;
    }
    checkOpen();
    return cursor.read();
  }

  @Override
  public synchronized int read(byte[] b, int off, int len) throws IOException {
    if (own != null) {
      long start = System.nanoTime();
      int count = own.read(b, off, len);
      cursor.fetched(start, count);
      return count;
    }
    Objects.checkFromIndexSize(off, len, b.length);
    if (len == 0) {
      return 0;
    }
    checkOpen();
    return cursor.read(b, off, len);
  }

  @Override
  public synchronized byte[] readAllBytes() throws IOException {
    if (own != null) {
      long start = System.nanoTime();
      byte[] rest = own.readAllBytes();
      cursor.fetched(start, rest.length);
      return rest;
    }
    checkOpen();
    if (!cursor.restFitsArray()) {
      throw new OutOfMemoryError("Required array size too large");
    }
    return cursor.readRest(Integer.MAX_VALUE - 8);
  }

  @Override
  public synchronized long skip(long n) throws IOException {
    if (own != null) {
      return own.skip(n);
    }
    checkOpen();
    // As the JDK's stream over a seekable channel: never beyond the end, backwards to the start.
    long position = cursor.position();
    long target = position + n;
    if (n > 0) {
      target = target < 0 || target > cursor.size() ? Math.max(position, cursor.size()) : target;
    } else {
      target = Math.max(target, 0);
    }
    cursor.position(target);
    return target - position;
  }

  @Override
  public synchronized int available() throws IOException {
    if (own != null) {
      return own.available();
    }
    checkOpen();
    return (int) Math.max(0, Math.min(Integer.MAX_VALUE, cursor.size() - cursor.position()));
  }

  @Override
  public void close() throws IOException {
    closed = true;
    try {
      if (own != null) {
        own.close();
      }
    } finally {
      cursor.close();
    }
  }
}
