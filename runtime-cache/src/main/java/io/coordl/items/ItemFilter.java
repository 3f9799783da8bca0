package io.coordl.items;

import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Decides which files are items of the data set and how they are identified. Called on the
 * program's threads at each open and, for files that stay open, at each read; must be quick and
 * safe for concurrent use.
 */
public interface ItemFilter {
  boolean isItem(String absolutePath);

  /** Whether the file could ever be an item; if so, it is watched while it stays open. */
  default boolean mayBeItem(String absolutePath) {
    return true;
  }

  /** Decides whether a candidate is an item. */
  default boolean goesByPath() {
    return false;
  }

  /** Explains to the user why the program has read no item so far; empty if it has. */
  default String whyNone() {
    return "";
  }

  /**
   * Why the pattern that the user gave has matched no file so far; empty if it has, or if unknown.
   */
  default String whyUnused(String given) {
    return "";
  }

  /** Whether a name that the user gave, which is no glob, names nothing now; may block. */
  default boolean isMissing(String given) {
    return false;
  }

  /** How items are identified among all jobs that share them; by default, by device and inode. */
  default ItemNames names() {
    return ItemNames.HERE;
  }

  /** Inferred: every file read while this thread loads a sample. */
  static ItemFilter inferred(BooleanSupplier loadingSample, ItemNames names) {
    return new InferredFiles(loadingSample, names);
  }

  /**
   * Declared by the user: files that match a glob, and files below a directory; absolute, or
   * relative to the working directory. Throws if a glob is malformed.
   */
  static ItemFilter matching(List<String> patterns, ItemNames names) {
    return new DeclaredFiles(patterns, names);
  }
}
