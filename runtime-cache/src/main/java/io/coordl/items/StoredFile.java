package io.coordl.items;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;

/** An item's file as it was when its state was read. */
public sealed interface StoredFile permits ItemFile, ForeignFile {
  /** Returns an absolute path, or a URI for another file system. */
  String location();

  long size();

  ItemKey key();

  /** Whether the path still names this file, in the same state; false if that cannot be proven. */
  boolean unchanged();

  /**
   * Whether this file seems to have grown. It may be another file with a reused inode number, so
   * read the appended bytes only from {@link #reopen}.
   */
  boolean grown();

  /**
   * Opens the file from which a reader of {@code content} continues: this file, unchanged or with
   * bytes appended; otherwise an unnamed copy.
   */
  RandomAccessFile reopen(ByteBuffer content) throws IOException;
}
