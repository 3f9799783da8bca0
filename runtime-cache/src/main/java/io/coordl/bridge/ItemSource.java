package io.coordl.bridge;

import java.io.FileDescriptor;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a file that the program opens is an item of the data set, and supplies its bytes.
 * Called on all threads that run the program's code; safe for concurrent use.
 */
public interface ItemSource {
  ItemSource NONE = Nothing.INSTANCE;

  /**
   * Opens the item at {@code path}. Returns null if the program must make its own call, as without
   * the agent: the file is not an item, missing, unreadable or not regular, or the agent failed.
   * The source records the time spent here through {@link OpenItem#fetched}, including reading a
   * whole item from storage or waiting for another thread that does. Bytes are counted only when
   * the program reads them.
   *
   * @param path as the program passed it, relative to the working directory or absolute
   */
  @Nullable OpenItem open(String path);

  /**
   * Like {@link #open}, for a file that stays open across samples (random access files and
   * channels). Whether a read loads a sample is known only at the read, so the result for a regular
   * file is null only if no read of it could load one.
   */
  @Nullable OpenItem openRandomAccess(String path);

  /** Whether to call {@link #openOpened} once the program has opened the file. */
  boolean takesOpened(String path);

  /**
   * Like {@link #openRandomAccess}, for the file that the program has open, even if its path names
   * another file by now. A single check of the descriptor is then enough.
   */
  @Nullable OpenItem openOpened(String path, FileDescriptor opened);

  /**
   * Called before the program maps this file for writing. Writes to a mapping do not change the
   * file's size or times immediately, so no store may cache the file from now on.
   */
  void mapsToWrite(FileChannel channel);

  /**
   * Like {@link #open(String)}, for a file that is not on the host's file system; only for readers
   * that read sequentially from the start.
   */
  @Nullable OpenItem openForeign(Path path);
}
