package io.coordl.cache;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;

/** A file that is an item, as it was when it was looked at. */
sealed interface StoredFile permits ItemFile, ForeignFile {
  /** An absolute path, or the URI of a path of another file system. */
  String location();

  long size();

  ItemKey key();

  /** Whether the path still names this file, of this size and modification time, known as it. */
  boolean unchanged();

  /**
   * Whether what may be this very file is longer now. It need not be: the number of a file that is
   * gone is given to the next one. So what follows is read from {@link #reopen} alone.
   */
  boolean grown();

  /**
   * Opens what a reader of {@code content} is to read on from: this file as it was, or grown behind
   * the same bytes; else a copy without a name.
   */
  RandomAccessFile reopen(ByteBuffer content) throws IOException;
}
