package io.coordl.bridge;

import java.io.FileDescriptor;
import java.io.IOException;

/** A file that the program has open. The item is read from it without opening the file again. */
public interface OpenedFile {
  FileDescriptor descriptor() throws IOException;

  /**
   * Reads like {@link java.io.RandomAccessFile#read(byte[], int, int)}, but at a position. Called
   * only during a read of the item; the reader then restores the file's position.
   */
  int read(long position, byte[] target, int offset, int length) throws IOException;
}
