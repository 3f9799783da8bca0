package io.coordl.bridge;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What {@link java.nio.file.Files#newInputStream} returns for an item: like the JDK's stream over a
 * channel (uninterruptible, {@link ClosedChannelException} when closed, skips not beyond the end),
 * but an {@link ItemFileInputStream} reads, or, where the item is only observed, the JDK's own
 * stream. As in that, threads that read from it take turns.
 */
final class ItemInputStream extends InputStream {
  private final ItemCursor cursor;
  private final InputStream in;
  private final boolean observed;
  private volatile boolean closed;

  /**
   * A stream of the runtime's bytes, or where {@code own} is given, of the program's own stream.
   */
  ItemInputStream(ItemCursor cursor, @Nullable InputStream own) {
    this.cursor = cursor;
    this.in = own == null ? ItemFileInputStream.of(cursor) : own;
    this.observed = own != null;
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
  }

  /** When a read begins; of what the cursor reads it notes the time itself. */
  private long begin() throws IOException {
    checkOpen();
    return observed ? System.nanoTime() : 0;
  }

  private void noted(long start, int count) {
    if (observed) {
      cursor.fetched(start, count);
    }
  }

  @Override
  public synchronized int read() throws IOException {
    long start = begin();
    int value = in.read();
    noted(start, value < 0 ? 0 : 1);
    return value;
  }

  @Override
  public synchronized int read(byte[] b, int off, int len) throws IOException {
    Objects.checkFromIndexSize(off, len, b.length);
    if (len == 0) {
      return 0;
    }
    long start = begin();
    int count = in.read(b, off, len);
    noted(start, count);
    return count;
  }

  @Override
  public synchronized byte[] readAllBytes() throws IOException {
    long start = begin();
    if (!observed && !cursor.restFitsArray() && new File(cursor.path()).isFile()) {
      try (InputStream named = Files.newInputStream(Path.of(cursor.path()))) {
        named.skip(cursor.position());
        return named.readAllBytes(); // Throws with its own message.
      }
    }
    byte[] rest = in.readAllBytes();
    noted(start, rest.length);
    return rest;
  }

  /** As the JDK's stream over a seekable channel: not beyond the end, backwards to the start. */
  @Override
  public synchronized long skip(long n) throws IOException {
    checkOpen();
    return in instanceof ItemFileInputStream item ? item.skipWithin(n) : in.skip(n);
  }

  @Override
  public synchronized int available() throws IOException {
    checkOpen();
    return in.available();
  }

  @Override
  public void close() throws IOException {
    closed = true;
    try {
      // The cursor closes what the other has open. Were the other closed too, a read under way
      // would throw what a FileInputStream throws.
      if (observed) {
        in.close();
      }
    } finally {
      cursor.close();
    }
  }
}
