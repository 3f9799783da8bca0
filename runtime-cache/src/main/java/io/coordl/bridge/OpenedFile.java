package io.coordl.bridge;

import java.io.FileDescriptor;
import java.io.IOException;

/** A file that the program has open, from which its item is read without opening it again. */
public interface OpenedFile {
  FileDescriptor descriptor() throws IOException;

  /**
   * As {@link java.io.RandomAccessFile#read(byte[], int, int)}, at a position. Called only while
   * the item is read; the reader then sets the file's position to where the program expects it.
   */
  int read(long position, byte[] target, int offset, int length) throws IOException;
}
