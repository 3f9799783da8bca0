package io.coordl.cache;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;

/** A file that is an item, and the way to its bytes past every cache that can be passed by. */
sealed interface StoredFile permits LocalFile, ForeignFile {
  /** What it is known by: an absolute path, or the URI of a path of another file system. */
  String name();

  /** Size in bytes when it was looked at. */
  long size();

  ItemKey key();

  /** Reads the whole file; false if it is not what it was. */
  boolean read(byte[] target, int offset) throws IOException;

  /** Whether it is what it was when it was looked at. */
  boolean unchanged();

  /** Whether it seems longer now. */
  boolean grown();

  /** What a reader of {@code content} is to read on from; see {@link ItemFile#reopen}. */
  RandomAccessFile reopen(ByteBuffer content) throws IOException;
}
