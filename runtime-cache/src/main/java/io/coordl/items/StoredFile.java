package io.coordl.items;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;

/** A file that is an item, as it was when its state was read. */
public sealed interface StoredFile permits ItemFile, ForeignFile {
  /** An absolute path, or the URI of a path of another file system. */
  String location();

  long size();

  ItemKey key();

  /** Whether the path still names this file, with this size, modification time and name. */
  boolean unchanged();

  /**
   * Whether this file seems to be longer now. It may be another file, because inode numbers are
   * reused. So the bytes that follow are read only from {@link #reopen}.
   */
  boolean grown();

  /**
   * Opens the file from which a reader of {@code content} continues: this file, unchanged or with
   * bytes appended; otherwise an unnamed copy.
   */
  RandomAccessFile reopen(ByteBuffer content) throws IOException;
}
