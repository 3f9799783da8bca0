package io.coordl.bridge;

import java.io.FileDescriptor;
import java.io.IOException;

/** A file that the program has open, from which its item is read without opening it again. */
public interface OpenedFile {
  FileDescriptor descriptor() throws IOException;

  /**
   * As {@link java.io.RandomAccessFile#read(byte[], int, int)}, at a position. Only while the item
   * is read: whoever reads it then puts the position of the file where the program expects it.
   */
  int read(long position, byte[] target, int offset, int length) throws IOException;
}
