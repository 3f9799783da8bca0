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
 * The result of {@link java.nio.file.Files#newInputStream} for an item. It behaves like the JDK's
 * stream over a channel (uninterruptible, {@link ClosedChannelException} when closed, no skip past
 * the end), but reads from an {@link ItemFileInputStream} or, for an item that is only observed,
 * from the JDK's own stream. Concurrent reads are serialised, as in the JDK's stream.
 */
final class ItemInputStream extends InputStream {
  private final ItemCursor cursor;
  private final InputStream in;
  private final boolean observed;
  private volatile boolean closed;

  /**
   * Creates a stream over the runtime's bytes or, if {@code own} is given, over the program's
   * stream.
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

  /** Returns the start time of an observed read; the cursor times its own reads. */
  private long begin() throws IOException {
    checkOpen();
    return observed ? System.nanoTime() : 0;
  }

  private void recordRead(long start, int count) {
    if (observed) {
      cursor.fetched(start, count);
    }
  }

  @Override
  public synchronized int read() throws IOException {
    long start = begin();
    int value = in.read();
    recordRead(start, value < 0 ? 0 : 1);
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
    recordRead(start, count);
    return count;
  }

  @Override
  public synchronized byte[] readAllBytes() throws IOException {
    long start = begin();
    if (!observed && !cursor.restFitsArray() && new File(cursor.path()).isFile()) {
      try (InputStream named = Files.newInputStream(Path.of(cursor.path()))) {
        named.skip(cursor.position());
        return named.readAllBytes(); // Throws the JDK's own error.
      }
    }
    byte[] rest = in.readAllBytes();
    recordRead(start, rest.length);
    return rest;
  }

  /**
   * Skips like the JDK's stream over a seekable channel: stops at the end and, backwards, at the
   * start.
   */
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
      // The cursor closes the file of an ItemFileInputStream. If that stream were closed, too, a
      // read in progress would fail with a FileInputStream's exception.
      if (observed) {
        in.close();
      }
    } finally {
      cursor.close();
    }
  }
}
