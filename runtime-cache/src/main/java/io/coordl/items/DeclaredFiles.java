package io.coordl.items;

import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Accepts the files that the user named. Compares patterns and the program's paths as absolute
 * paths without {@code ..}; never resolves links.
 */
final class DeclaredFiles implements ItemFilter {
  private final List<Pattern> patterns;
  private final ItemNames names;

  /** Creates a filter from globs and directories; throws if a glob is malformed. */
  DeclaredFiles(List<String> patterns, ItemNames names) {
    this.patterns = patterns.stream().map(Pattern::new).toList();
    this.names = names;
  }

  @Override
  public ItemNames names() {
    return names;
  }

  @Override
  public boolean isItem(String absolutePath) {
    if (patterns.size() == 1 && patterns.get(0).isBelow(absolutePath)) {
      return true;
    }
    Path path;
    try {
      path = Path.of(absolutePath).normalize();
    } catch (InvalidPathException e) {
      return false; // No pattern can match: the file system's encoding has no such name.
    }
    boolean item = false;
    for (Pattern pattern : patterns) {
      if ((!item || !pattern.used) && pattern.matcher.matches(path)) {
        item = true;
        pattern.used = true;
      }
    }
    return item;
  }

  @Override
  public boolean mayBeItem(String absolutePath) {
    return isItem(absolutePath);
  }

  @Override
  public boolean goesByPath() {
    return true;
  }

  @Override
  public String whyNoItems() {
    return patterns.stream().anyMatch(pattern -> pattern.used)
        ? ""
        : "the program read no file that dataset= names";
  }

  @Override
  public boolean isMissing(String given) {
    return !Pattern.isGlob(given) && Files.notExists(Path.of(given).toAbsolutePath());
  }

  @Override
  public String whyUnused(String given) {
    for (Pattern pattern : patterns) {
      if (pattern.given.equals(given) && !pattern.used) {
        return "the program read no file " + pattern.which;
      }
    }
    return "";
  }

  private static final class Pattern {
    final String given;
    final String which;
    final PathMatcher matcher;

    /** Prefix of paths below the root; null if only the matcher can decide. */
    final @Nullable String prefix;

    volatile boolean used;

    Pattern(String given) {
      this.given = given;
      if (isGlob(given)) {
        String glob = absoluteGlob(given);
        which = "that matches " + glob;
        matcher = FileSystems.getDefault().getPathMatcher("glob:" + glob);
        prefix = null;
      } else {
        Path root = Path.of(given).toAbsolutePath().normalize();
        which = "at or below " + root;
        matcher = path -> path.startsWith(root);
        prefix = root.getNameCount() == 0 ? null : root + "/";
      }
    }

    /**
     * Whether a path is below the root and none of its segments there begins with a dot; decides
     * most opens without parsing the path.
     */
    boolean isBelow(String path) {
      if (prefix == null
          || !path.startsWith(prefix)
          || path.indexOf("/.", prefix.length() - 1) >= 0) {
        return false;
      }
      if (!used) {
        used = true;
      }
      return true;
    }

    private static boolean isGlob(String text) {
      return text.matches("(?s).*[*?\\[{].*");
    }

    /**
     * Returns the glob with an absolute literal prefix; after the first wildcard, {@code ..} has no
     * meaning.
     */
    private static String absoluteGlob(String given) {
      List<String> segments = new ArrayList<>(List.of(given.split("/", -1)));
      int literal = 0;
      while (!isGlob(segments.get(literal))) {
        literal++;
      }
      Path beginning =
          Path.of(
              (given.startsWith("/") ? "/" : "") + String.join("/", segments.subList(0, literal)));
      String directory = beginning.toAbsolutePath().normalize().toString();
      return (directory.equals("/") ? "" : directory.replaceAll("[\\\\*?\\[\\]{}]", "\\\\$0"))
          + "/"
          + String.join("/", segments.subList(literal, segments.size()));
    }
  }
}
