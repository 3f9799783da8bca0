package io.coordl.bridge;

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import org.jspecify.annotations.Nullable;

/**
 * A read-only {@link RandomAccessFile} that opens the file, because the superclass must, but reads
 * cached bytes from the runtime.
 *
 * <p>The position is always that of the open file, queried before each read and advanced after it:
 * final methods of the class ({@code getChannel}, {@code getFD} and, from about JDK 22, {@code
 * readLine}) use the file directly and must see the program's position. At and beyond the size at
 * open, the file itself is read, so a program that follows a growing file sees it grow.
 *
 * <p>Threads that share an instance read each byte once between them: query, read and advance are
 * one atomic step with respect to other reads and {@code seek}.
 */
final class ItemRandomAccessFile extends RandomAccessFile {
  /** Null if the file is not an item. */
  private final @Nullable ItemCursor cursor;

  /** Guards the position. */
  private final Object moving = new Object();

  /** Position of the file during a read; -1 if unknown. */
  private long at;

  /**
   * If true, all reads use the open file: the runtime does not serve it, the path no longer names
   * the item's file, or a read by the runtime failed.
   */
  private volatile boolean ownOnly;

  ItemRandomAccessFile(File file, ItemCursor cursor) throws FileNotFoundException {
    super(file, "r");
    this.cursor = cursor;
    ownOnly = cursor.served && !cursor.unchanged();
  }

  /** Opens the file, as an item if it is one; {@code startNanos} is the time before the open. */
  ItemRandomAccessFile(File file, long startNanos) throws FileNotFoundException {
    super(file, "r");
    cursor = cursor(file, startNanos);
    ownOnly = cursor == null || !cursor.served;
  }

  private @Nullable ItemCursor cursor(File file, long startNanos) {
    try {
      ItemCursor item = ItemCursor.ofOpened(file.getPath(), getFD(), startNanos);
      return item == null ? null : item.readingFrom(new Own());
    } catch (IOException e) {
      return null; // No descriptor.
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] b) throws IOException {
    return read(b, 0, b.length);
  }

  @Override
  public int read(byte[] b, int off, int len) throws IOException {
    boolean valid = off >= 0 && len > 0 && len <= b.length - off;
    ItemCursor item = cursor;
    if (item == null) {
      return super.read(b, off, len);
    }
    if (valid && item.served && !ownOnly) {
      synchronized (moving) {
        long position = super.getFilePointer();
        at = position;
        int count = served(item, position, b, off, len);
        long next = position + Math.max(0, count);
        if (at != next) {
          super.seek(next);
        }
        if (count > 0) {
          return count;
        }
      }
    }
    long start = System.nanoTime();
    int count = super.read(b, off, len);
    item.fetched(start, count);
    return count;
  }

  private int served(ItemCursor item, long position, byte[] b, int off, int len) {
    try {
      return item.readAt(position, b, off, len);
    } catch (IOException e) {
      ownOnly = true; // If the error concerns the program, the open file throws it again.
      return -1;
    }
  }

  /** This file as the runtime sees it during a read, while the position is guarded. */
  private final class Own implements OpenedFile {
    @Override
    public FileDescriptor descriptor() throws IOException {
      return getFD();
    }

    @Override
    public int read(long position, byte[] target, int offset, int length) throws IOException {
      if (at != position) {
        ItemRandomAccessFile.super.seek(position);
      }
      at = -1;
      int count = ItemRandomAccessFile.super.read(target, offset, length);
      at = position + Math.max(0, count);
      return count;
    }
  }

  /** Waits for a read in progress, which may move the position past the bytes that it returns. */
  @Override
  public long getFilePointer() throws IOException {
    synchronized (moving) {
      return super.getFilePointer();
    }
  }

  @Override
  public void seek(long position) throws IOException {
    synchronized (moving) {
      super.seek(position);
    }
  }

  @Override
  public void close() throws IOException {
    try {
      super.close();
    } finally {
      if (cursor != null) {
        cursor.close();
      }
    }
  }
}
