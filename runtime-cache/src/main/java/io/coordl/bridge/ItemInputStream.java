package io.coordl.bridge;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What {@link java.nio.file.Files#newInputStream} returns for an item: like the JDK's stream over a
 * channel (uninterruptible, {@link ClosedChannelException} when closed), but served by the runtime,
 * or observed around the JDK's own. As in that, threads that read from it take turns. At the end of
 * a file that has grown the file's own stream takes over.
 */
final class ItemInputStream extends InputStream {
  private final ItemCursor cursor;
  private volatile @Nullable InputStream own;
  private volatile boolean closed;

  /**
   * A stream of the runtime's bytes, or where {@code own} is given, of the program's own stream.
   */
  ItemInputStream(ItemCursor cursor, @Nullable InputStream own) {
    this.cursor = cursor;
    this.own = own;
  }

  /**
   * The file's own stream, from the position on, if the file has grown since the open: it answers
   * from then on. Null if it has not.
   */
  private @Nullable InputStream grown() throws IOException {
    if (!cursor.grown()) {
      return null;
    }
    RandomAccessFile file = cursor.file();
    file.seek(cursor.position());
    InputStream rest = new FileInputStream(file.getFD());
    own = rest;
    return rest;
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
  }

  @Override
  public synchronized int read() throws IOException {
    checkOpen();
    InputStream file = own;
    if (file == null) {
      int value = cursor.read();
      file = value < 0 ? grown() : null;
      if (file == null) {
        return value;
      }
    }
    long start = System.nanoTime();
    int value = file.read();
    cursor.fetched(start, value < 0 ? 0 : 1);
    return value;
  }

  @Override
  public synchronized int read(byte[] b, int off, int len) throws IOException {
    Objects.checkFromIndexSize(off, len, b.length);
    if (len == 0) {
      return 0;
    }
    checkOpen();
    InputStream file = own;
    if (file == null) {
      int count = cursor.read(b, off, len);
      file = count < 0 ? grown() : null;
      if (file == null) {
        return count;
      }
    }
    long start = System.nanoTime();
    int count = file.read(b, off, len);
    cursor.fetched(start, count);
    return count;
  }

  @Override
  public synchronized byte[] readAllBytes() throws IOException {
    checkOpen();
    InputStream file = own;
    byte[] first = new byte[0];
    if (file == null) {
      if (!cursor.restFitsArray()) {
        throw new OutOfMemoryError("Required array size too large");
      }
      first = cursor.readRest(Integer.MAX_VALUE - 8);
      file = grown();
      if (file == null) {
        return first;
      }
    }
    long start = System.nanoTime();
    byte[] rest = file.readAllBytes();
    cursor.fetched(start, rest.length);
    return ItemFileInputStream.joined(first, rest);
  }

  @Override
  public synchronized long skip(long n) throws IOException {
    checkOpen();
    InputStream file = own;
    if (file != null) {
      return skip(file, n);
    }
    // As the JDK's stream over a seekable channel: never beyond the end, backwards to the start.
    long position = cursor.position();
    long target = position + n;
    if (n > 0) {
      if (target > cursor.size) {
        file = grown();
        if (file != null) {
          return skip(file, n);
        }
      }
      target = target < 0 || target > cursor.size ? Math.max(position, cursor.size) : target;
    } else {
      target = Math.max(target, 0);
    }
    cursor.position(target);
    return target - position;
  }

  /** A {@link FileInputStream} alone would go beyond the end. */
  private static long skip(InputStream file, long n) throws IOException {
    return file.skip(file instanceof FileInputStream ? Math.min(n, file.available()) : n);
  }

  @Override
  public synchronized int available() throws IOException {
    checkOpen();
    InputStream file = own;
    if (file == null) {
      long rest = cursor.size - cursor.position();
      file = rest > 0 ? null : grown();
      if (file == null) {
        return (int) Math.max(0, Math.min(Integer.MAX_VALUE, rest));
      }
    }
    return file.available();
  }

  @Override
  public void close() throws IOException {
    closed = true;
    try {
      InputStream file = own;
      if (file != null) {
        file.close();
      }
    } finally {
      cursor.close();
    }
  }
}
