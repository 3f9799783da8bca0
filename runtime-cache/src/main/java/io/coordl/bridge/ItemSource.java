package io.coordl.bridge;

import java.io.FileDescriptor;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a file the program opens is an item of the data set, and from where its bytes
 * come. Safe for concurrent use; called on the program's threads.
 */
public interface ItemSource {
  ItemSource NONE = Nothing.INSTANCE;

  /**
   * The item at {@code path}, or null where the program's own call is to be made as if the agent
   * were not there: not an item, missing, unreadable, not a regular file, or a fault of ours. The
   * time spent here, reading a whole item from storage or waiting for another who does included, is
   * noted by the source itself through {@link OpenItem#fetched}; the bytes are not, they count as
   * the program takes them.
   *
   * @param path as the program wrote it, relative to the working directory or absolute
   */
  @Nullable OpenItem open(String path);

  /**
   * As {@link #open} for a file that stays open across samples (random access files and channels):
   * since whether a read loads a sample is only known at the read, a regular file is null only
   * where no read of it could be one.
   */
  @Nullable OpenItem openRandomAccess(String path);

  /** Whether to call {@link #openOpened} once the program has opened the file. */
  boolean takesOpened(String path);

  /**
   * As {@link #openRandomAccess}, for the file that the program has open, whatever its name refers
   * to by now. Checking the descriptor once is then enough.
   */
  @Nullable OpenItem openOpened(String path, FileDescriptor opened);

  /**
   * The program is about to map this file writable: what it writes there changes neither size nor
   * times of the file at once, so the file is left to it from now on.
   */
  void mapsToWrite(FileChannel channel);

  /**
   * As {@link #open(String)} for a file of a file system that is not the default one, such as one
   * of the program's own; only for readers who read on from the start.
   */
  @Nullable OpenItem openForeign(Path path);
}
