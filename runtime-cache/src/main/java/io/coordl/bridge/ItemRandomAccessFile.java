package io.coordl.bridge;

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import org.jspecify.annotations.Nullable;

/**
 * A read-only {@link RandomAccessFile} that opens the file (the class has no other constructor),
 * but reads cached bytes from the runtime.
 *
 * <p>The position is always that of the open file, queried before each read and advanced after it:
 * final methods of the class ({@code getChannel}, {@code getFD} and, from about JDK 22 on, {@code
 * readLine}) use the file directly and must find the position where the program left it. At and
 * beyond the size at the open, the file itself is read, so a program that follows a growing file
 * sees it grow.
 *
 * <p>Threads that share it get each byte once: querying, reading and advancing are one atomic step
 * with respect to other reads and {@code seek}.
 */
final class ItemRandomAccessFile extends RandomAccessFile {
  /** Null if the file is not an item. */
  private final @Nullable ItemCursor cursor;

  /** Guards the position. */
  private final Object moving = new Object();

  /** Position of the file during a read; -1 if unknown. */
  private long at;

  /**
   * Once set, all reads use the open file: it is not the item's file, or a read of the runtime
   * failed.
   */
  private volatile boolean ownOnly;

  ItemRandomAccessFile(File file, ItemCursor cursor) throws FileNotFoundException {
    super(file, "r");
    this.cursor = cursor;
    ownOnly = cursor.served && !cursor.unchanged();
  }

  /** Reads the file as an item if it is one; {@code startNanos} is a time before the open. */
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
      ownOnly = true; // If it concerns the program, reading the open file fails again.
      return -1;
    }
  }

  /** This file for the runtime, in a read: the position is guarded. */
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

  /** Waits for a read under way, which may move the file past the bytes that the program gets. */
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
