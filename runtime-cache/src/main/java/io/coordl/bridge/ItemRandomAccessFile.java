package io.coordl.bridge;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A {@link java.io.RandomAccessFile} for reading that opens the file (the class has no other
 * constructor) but reads what the runtime has from there. The file itself answers at and after the
 * size it had at the open, so that a program that follows a growing file sees it grow, and
 * everywhere once its channel or descriptor was asked for.
 */
final class ItemRandomAccessFile extends java.io.RandomAccessFile {
  private final ItemCursor cursor;
  private volatile boolean fromFile;
  private volatile boolean closed;

  ItemRandomAccessFile(File file, ItemCursor cursor) throws FileNotFoundException {
    super(file, "r");
    this.cursor = cursor;
    this.fromFile = !cursor.served();
  }

  /** Lets the file answer from now on, at the same position. */
  void readFromFile() throws IOException {
    if (!fromFile && !closed) {
      super.seek(cursor.position());
      fromFile = true;
    }
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new IOException("Stream Closed");
    }
  }

  @Override
  public int read() throws IOException {
    if (!fromFile) {
      checkOpen();
      int value = cursor.read();
      if (value >= 0) {
        return value;
      }
      super.seek(cursor.position());
    }
    long start = System.nanoTime();
    int value = super.read();
    cursor.fetched(start, value < 0 ? 0 : 1);
    if (value >= 0) {
      cursor.position(cursor.position() + 1);
    }
    return value;
  }

  @Override
  public int read(byte[] b) throws IOException {
    return read(b, 0, b.length);
  }

  @Override
  public int read(byte @Nullable [] b, int off, int len) throws IOException {
    if (!fromFile && b != null) {
      if ((off | len) < 0 || len > b.length - off) {
        throw new IndexOutOfBoundsException();
      }
      if (len == 0) {
        return 0; // Even when closed, as the JDK's class.
      }
      checkOpen();
      int count = cursor.read(b, off, len);
      if (count >= 0) {
        return count;
      }
      super.seek(cursor.position());
    }
    long start = System.nanoTime();
    int count = super.read(b, off, len);
    cursor.fetched(start, count);
    cursor.position(cursor.position() + Math.max(0, count));
    return count;
  }

  @Override
  public long getFilePointer() throws IOException {
    if (fromFile) {
      return super.getFilePointer();
    }
    checkOpen();
    return cursor.position();
  }

  @Override
  public void seek(long pos) throws IOException {
    if (fromFile || pos < 0) {
      super.seek(pos);
      return;
    }
    checkOpen();
    cursor.position(pos);
  }

  @Override
  public void close() throws IOException {
    closed = true;
    try {
      super.close();
    } finally {
      cursor.close();
    }
  }
}
