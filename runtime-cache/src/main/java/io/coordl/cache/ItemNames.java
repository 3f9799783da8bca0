package io.coordl.cache;

import io.coordl.log.UserLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * By what items are known to other hosts, which may have the data set elsewhere.
 *
 * <ul>
 *   <li>As a rule by absolute path, size and modification time.
 *   <li>Below a root by the path relative to it, size and modification time: what {@code cp -p} or
 *       {@code rsync -a} copies is the same item on every host.
 *   <li>With a manifest by content and size: other modification times make no other item, nor do
 *       other paths.
 * </ul>
 *
 * <p>A path with {@code ..} in it is known as a whole: behind a symbolic link it may lead out of
 * the root.
 *
 * <h2>Why a manifest serves nothing stale</h2>
 *
 * <p>A manifest is believed about a file as long as the file is older than it: both the
 * modification time and the time of the last change of the inode, which no copy and no {@code
 * touch} can set back, must lie before the manifest's own (the earlier of these two of the manifest
 * itself, so that one dated into the future says nothing about it). A file that was written,
 * replaced, moved here, or just copied later than that is known by its path, as if it were not
 * listed. The clocks are those of the file systems; a manifest that lies with its data set has the
 * same.
 *
 * <p>What a manifest says wrongly of an older file (hashed while it was being written, or copied
 * beside other data) is met when the item is read from storage: the bytes of a whole item are
 * admitted under a content only if they have it; else the line is void in this process, and the
 * program reads its own file. So no wrong line reaches another host. Blocks of files over {@link
 * MinioCache#WHOLE_LIMIT} and decoded items cannot be checked that way, and rely on the times.
 *
 * <p>Safe for concurrent use. The manifest is read at the first file below the root that is opened:
 * others wait meanwhile.
 */
public final class ItemNames {
  /** Every item by its absolute path. */
  public static final ItemNames PATHS = new ItemNames(List.of(), null, sentence -> {});

  private final List<String> roots;
  private final @Nullable Path listing;
  private final UserLog log;
  private final AtomicBoolean saidNewer = new AtomicBoolean();
  private @Nullable Manifest manifest;

  /** Written after the manifest. */
  private volatile boolean read;

  private ItemNames(List<String> roots, @Nullable Path listing, UserLog log) {
    this.roots = roots;
    this.listing = listing;
    this.log = log;
  }

  /**
   * Items below {@code root} by relative path, those that {@code manifest} lists by content.
   *
   * @param root a directory; relative to the working directory if not absolute
   * @param manifest as {@code sha256sum} writes it when run in the root; null for none
   */
  public static ItemNames below(String root, @Nullable String manifest, UserLog log) {
    try {
      Path directory = Path.of(root).toAbsolutePath();
      if (!Files.isDirectory(directory)) {
        log.say(
            "dataset.root=%s is no directory here: all items are known by absolute path.", root);
        return PATHS;
      }
      String named = Objects.requireNonNull(MinioCache.absolute(root + "/"));
      // A program may have looked up where a link to the root leads.
      String real = directory.toRealPath().toString();
      List<String> roots =
          Stream.of(named, real)
              .map(path -> path.endsWith("/") ? path : path + "/")
              .distinct()
              .toList();
      return new ItemNames(roots, manifest == null ? null : Path.of(manifest), log);
    } catch (IOException | InvalidPathException e) {
      log.say(
          "dataset.root=%s cannot be used (%s): all items are known by absolute path.", root, e);
      return PATHS;
    }
  }

  /** The bytes under that name, read from storage at {@code path}, are not what it says. */
  void isWrong(ItemName name, String path) {
    Manifest believed = manifest();
    Manifest.Line line = name.listed();
    if (believed != null && line != null) {
      believed.isWrong(line, path);
    }
  }

  /** The name of a file of that size and time; null if it is known by its absolute path. */
  @Nullable ItemName of(String absolutePath, long size, long modifiedNanos) {
    String relative = roots.isEmpty() ? null : relative(roots, absolutePath);
    if (relative == null) {
      return null;
    }
    Manifest listed = listing == null ? null : manifest();
    Manifest.Line line = listed == null || size == 0 ? null : listed.find(relative);
    if (line != null && listed != null) {
      if (isOlder(listed, absolutePath, modifiedNanos)) {
        return new ItemName(line.content(), 0, line);
      }
      if (!saidNewer.getAndSet(true)) {
        log.say(
            "%s was changed after %s was made: it and others like it are known by path and"
                + " modification time. If the manifest is right about them, touch it.",
            absolutePath, listing);
      }
    }
    // No absolute path begins like this.
    return new ItemName("./" + relative, modifiedNanos, null);
  }

  /** What is left of the path behind a root; null if it does not lead below one for certain. */
  private static @Nullable String relative(List<String> roots, String path) {
    for (String root : roots) {
      if (path.startsWith(root)) {
        String rest = path.substring(root.length());
        return rest.isEmpty() || ("/" + rest + "/").contains("/../") ? null : rest;
      }
    }
    return null;
  }

  /** Looked at after size and time were: what is changed in between is newer then. */
  private static boolean isOlder(Manifest manifest, String path, long modifiedNanos) {
    if (modifiedNanos >= manifest.madeNanos) {
      return false;
    }
    try {
      return changedNanos(Path.of(path)) < manifest.madeNanos;
    } catch (IOException | RuntimeException e) {
      return false; // Gone, or a file system that does not tell.
    }
  }

  /** When the file's inode last changed. */
  static long changedNanos(Path path) throws IOException {
    return ((FileTime) Files.getAttribute(path, "unix:ctime")).to(TimeUnit.NANOSECONDS);
  }

  private @Nullable Manifest manifest() {
    if (!read && listing != null) {
      readOnce(listing);
    }
    return manifest;
  }

  private synchronized void readOnce(Path from) {
    if (read) {
      return;
    }
    try {
      manifest = Manifest.read(from, this::relativeListed, log);
    } catch (IOException | RuntimeException e) {
      log.say(
          "dataset.manifest=%s cannot be used (%s): items are known by path and modification time.",
          from, e.getMessage());
    } finally {
      read = true;
    }
  }

  /** A listed name as a path below the root, as an opened one is; null if it is none. */
  private @Nullable String relativeListed(String name) {
    String path = MinioCache.absolute(name.startsWith("/") ? name : roots.get(0) + name);
    return path == null ? null : relative(roots, path);
  }
}
