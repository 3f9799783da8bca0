package io.coordl.bridge;

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;

/** A JDK stream over the real file that times its reads. */
final class ObservedFileInputStream extends FileInputStream {
  private final ItemCursor cursor;

  ObservedFileInputStream(File file, ItemCursor cursor) throws FileNotFoundException {
    super(file);
    this.cursor = cursor;
  }

  ObservedFileInputStream(FileDescriptor descriptor, ItemCursor cursor) {
    super(descriptor);
    this.cursor = cursor;
  }

  @Override
  public int read() throws IOException {
    long start = System.nanoTime();
    int value = super.read();
    cursor.fetched(start, value < 0 ? 0 : 1);
    return value;
  }

  @Override
  public int read(byte[] b) throws IOException {
    return read(b, 0, b.length);
  }

  @Override
  public int read(byte[] b, int off, int len) throws IOException {
    long start = System.nanoTime();
    int count = super.read(b, off, len);
    cursor.fetched(start, count);
    return count;
  }

  // Depending on the JDK, readAllBytes, readNBytes and transferTo call read() or bypass it; only
  // those that call it are timed.

  @Override
  public void close() throws IOException {
    try {
      super.close();
    } finally {
      cursor.close();
    }
  }
}
