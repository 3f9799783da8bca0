package io.coordl.bridge;

import java.io.FileDescriptor;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a file that the program opens is an item of the data set, and where its bytes
 * come from. Safe for concurrent use; called on the program's threads.
 */
public interface ItemSource {
  ItemSource NONE = Nothing.INSTANCE;

  /**
   * Opens the item at {@code path}. Returns null if the program's own call is to be made as without
   * the agent: the file is not an item, missing, unreadable, or not regular, or the agent failed.
   * The source itself records the time spent here through {@link OpenItem#fetched}, including
   * reading a whole item from storage or waiting for another thread that does. The bytes count only
   * when the program reads them.
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
   * Like {@link #openRandomAccess}, for the file that the program has open, whatever its name
   * refers to by now. A single check of the descriptor is then enough.
   */
  @Nullable OpenItem openOpened(String path, FileDescriptor opened);

  /**
   * The program is about to map this file writable: what it writes there changes neither size nor
   * times of the file at once, so the file is left to it from now on.
   */
  void mapsToWrite(FileChannel channel);

  /**
   * Like {@link #open(String)}, for a file outside the default file system, such as one of the
   * program's own file systems; only for sequential readers from the start.
   */
  @Nullable OpenItem openForeign(Path path);
}
