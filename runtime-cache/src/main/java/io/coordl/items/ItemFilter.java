package io.coordl.items;

import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Decides which files are items of the data set and how they are identified. Called at each open
 * and, for files that stay open, at each read, usually on the program's threads; must be quick and
 * safe for concurrent use.
 */
public interface ItemFilter {
  boolean isItem(String absolutePath);

  /** Whether the file could ever be an item; if so, each read is checked while it stays open. */
  default boolean mayBeItem(String absolutePath) {
    return true;
  }

  /** Whether the path alone decides; an item at the open is then an item at every read. */
  default boolean goesByPath() {
    return false;
  }

  /** Explains to the user why the program has read no item so far; empty if it has. */
  default String whyNoItems() {
    return "";
  }

  /**
   * Explains why a pattern of the user has matched no file so far; empty if it has, or if unknown.
   */
  default String whyUnused(String given) {
    return "";
  }

  /** Whether the user gave a path, not a glob, that does not exist; may block. */
  default boolean isMissing(String given) {
    return false;
  }

  /** Returns how jobs that share items identify them; by default, by device and inode. */
  default ItemNames names() {
    return ItemNames.HERE;
  }

  /** Returns a filter that infers items: every file read while this thread loads a sample. */
  static ItemFilter inferred(BooleanSupplier loadingSample, ItemNames names) {
    return new InferredFiles(loadingSample, names);
  }

  /**
   * Returns a filter for the files that the user declared by globs and directories, absolute or
   * relative to the working directory. Throws if a glob is malformed.
   */
  static ItemFilter matching(List<String> patterns, ItemNames names) {
    return new DeclaredFiles(patterns, names);
  }
}
