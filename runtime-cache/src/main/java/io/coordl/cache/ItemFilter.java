package io.coordl.cache;

import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Which files are items of the data set, and by what they are known. Called on the program's
 * threads at each open and, for files that stay open, at each read; must be quick and safe for
 * concurrent use.
 */
public interface ItemFilter {
  /** Whether the file is an item now. */
  boolean isItem(String absolutePath);

  /** Whether the file could ever be one: what stays open is then watched. */
  default boolean mayBeItem(String absolutePath) {
    return true;
  }

  /** By what items are known to all who share them: absolute paths, unless told. */
  default ItemNames names() {
    return ItemNames.PATHS;
  }

  /** The same files, known by {@code names}. */
  default ItemFilter named(ItemNames names) {
    ItemFilter files = this;
    return new ItemFilter() {
      @Override
      public boolean isItem(String absolutePath) {
        return files.isItem(absolutePath);
      }

      @Override
      public boolean mayBeItem(String absolutePath) {
        return files.mayBeItem(absolutePath);
      }

      @Override
      public ItemNames names() {
        return names;
      }
    };
  }

  /** Inferred: every file read while this thread loads a sample. */
  static ItemFilter inferred(BooleanSupplier loadingSample) {
    return path -> loadingSample.getAsBoolean();
  }

  /**
   * Declared by the user: files that match a glob of absolute or working-directory-relative paths,
   * and files below a directory.
   *
   * @throws IllegalArgumentException if a glob is malformed
   */
  static ItemFilter matching(List<String> patterns) {
    List<PathMatcher> matchers = new ArrayList<>();
    for (String pattern : patterns) {
      if (pattern.matches(".*[*?\\[{].*")) {
        String here = Path.of("").toAbsolutePath().toString();
        String absolute =
            pattern.startsWith("/")
                ? pattern
                : here.replaceAll("[\\\\*?\\[\\]{}]", "\\\\$0") + "/" + pattern;
        matchers.add(FileSystems.getDefault().getPathMatcher("glob:" + absolute));
      } else {
        Path root = Path.of(pattern).toAbsolutePath().normalize();
        matchers.add(path -> path.startsWith(root));
      }
    }
    return new ItemFilter() {
      @Override
      public boolean isItem(String absolutePath) {
        Path path;
        try {
          path = Path.of(absolutePath);
        } catch (InvalidPathException e) {
          return false; // No pattern could name it: the file system's encoding has no such name.
        }
        return matchers.stream().anyMatch(matcher -> matcher.matches(path));
      }

      @Override
      public boolean mayBeItem(String absolutePath) {
        return isItem(absolutePath);
      }
    };
  }
}
