package io.coordl.items;

import io.coordl.telemetry.log.UserLog;
import java.io.File;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Defines how items are identified and which files may be cached at all.
 *
 * <ul>
 *   <li>On one host: by device, inode, size and modification time, but not by path.
 *   <li>Among hosts, and below a root: by path (relative to the root), inode, size and modification
 *       time, because device numbers differ between hosts and containers. A file that all hosts see
 *       on one file server, or in one image, is the same item.
 *   <li>With a manifest: by content and size. Modification time and path make no difference.
 *   <li>With {@link #copies}, which the user has to request: by path, size and modification time
 *       alone. A file copied by {@code cp -p} or {@code rsync -a} is the same item on every host,
 *       and so is a file that replaces another one with the same size and time.
 * </ul>
 *
 * <p>For the first two, the change time is stored with the item ({@code StampedItems}): if only
 * that differs, the bytes are compared once. Some file systems change inode numbers from time to
 * time; once that is detected, path and change time replace the inode.
 *
 * <p>A path that contains {@code ..} is used as a whole: after a symbolic link it may lead out of
 * the root.
 *
 * <h2>Why a manifest never serves stale bytes</h2>
 *
 * <p>The manifest must be newer than the files it lists. A file's modification time and its inode's
 * last change, which no copy and no {@code touch} can set back, must both precede the manifest's
 * own time: the earlier of its modification and change times, so that a manifest dated into the
 * future gains nothing. A file that was written, replaced, moved or copied later is identified by
 * its path, as if it were not listed. All times come from the file systems' clocks; a manifest on
 * the same file system as its data set uses the same clock.
 *
 * <p>A newer manifest may still be wrong, because a file was hashed while it was being written or
 * the manifest belongs to other data. Reading the item from storage detects that: a whole item is
 * admitted under its listed content only if its bytes match. Otherwise this process ignores the
 * line, and the program reads its own file. So whole items that do not match their line do not
 * reach other hosts. Blocks of files over {@code MinioCache.WHOLE_LIMIT} and decoded items cannot
 * be checked that way and rely on the times.
 *
 * <p>Safe for concurrent use. The manifest is read when the first file below the root is opened;
 * other threads wait until it is read.
 */
public final class ItemNames {
  private static final boolean SLASHES = File.separatorChar == '/';
  private static final String WORKING_DIRECTORY = Path.of("").toAbsolutePath().toString();

  /** Items of this host alone, on any file system; remembers no skipped files. */
  public static final ItemNames HERE =
      new ItemNames(List.of(), null, Rule.HOST, Set.of(), Mounts.HERE, sentence -> {}, none());

  private static final int MAX_SKIPPED = 1 << 16;

  private enum Rule {
    HOST,
    HOSTS,
    COPIES
  }

  private final List<String> roots;
  private final @Nullable Path listing;
  private final Rule rule;
  private final Set<String> excluded;
  private final Mounts mounts;
  private final UserLog log;

  /** Devices on which files change their inode numbers. */
  private final Set<Long> changing = ConcurrentHashMap.newKeySet();

  /** Device and inode of files that the program can change unnoticed. */
  private final Set<List<Long>> skipped;

  private final AtomicBoolean loggedNewer = new AtomicBoolean();
  private final AtomicBoolean loggedNoChange = new AtomicBoolean();
  private @Nullable Manifest manifest;

  /** Whether reading the manifest has been tried; set last, to publish it. */
  private volatile boolean read;

  private ItemNames(
      List<String> roots,
      @Nullable Path listing,
      Rule rule,
      Set<String> excluded,
      Mounts mounts,
      UserLog log,
      Set<List<Long>> skipped) {
    this.skipped = skipped;
    this.roots = roots;
    this.listing = listing;
    this.rule = rule;
    this.excluded = excluded;
    this.mounts = mounts;
    this.log = log;
  }

  private static Set<List<Long>> none() {
    return ConcurrentHashMap.newKeySet();
  }

  /** Returns names for items of this host alone; logs file systems whose inode numbers change. */
  public static ItemNames here(UserLog log) {
    return new ItemNames(List.of(), null, Rule.HOST, Set.of(), Mounts.HERE, log, none());
  }

  /**
   * Returns names for items below {@code root}: by content if {@code manifest} lists them, else by
   * relative path.
   *
   * @param root a directory; relative to the working directory if not absolute
   * @param manifest output of {@code sha256sum} run in the root; null for none
   */
  public static ItemNames below(String root, @Nullable String manifest, UserLog log) {
    try {
      Path directory = Path.of(root).toAbsolutePath();
      if (!Files.isDirectory(directory)) {
        log.say(
            "dataset.root=%s is not a directory here: items are not identified by their path below"
                + " it.",
            root);
        return here(log);
      }
      String named = Objects.requireNonNull(absolute(root + "/"));
      // A program may use the target of a link to the root.
      String real = directory.toRealPath().toString();
      List<String> roots =
          Stream.of(named, real)
              .map(path -> path.endsWith("/") ? path : path + "/")
              .distinct()
              .toList();
      Path listing = manifest == null ? null : Path.of(manifest);
      return new ItemNames(roots, listing, Rule.HOST, Set.of(), Mounts.HERE, log, none());
    } catch (IOException | InvalidPathException e) {
      log.say(
          "dataset.root=%s cannot be used (%s): items are not identified by their path below it.",
          root, e);
      return here(log);
    }
  }

  /** Returns the same names for items that other hosts cache too. */
  public ItemNames amongHosts() {
    Rule wider = rule == Rule.COPIES ? Rule.COPIES : Rule.HOSTS;
    return new ItemNames(roots, listing, wider, excluded, mounts, log, skipped);
  }

  /**
   * Returns the same names, except that items identified by path have neither inode nor change
   * time.
   */
  public ItemNames copies() {
    return new ItemNames(roots, listing, Rule.COPIES, excluded, mounts, log, skipped);
  }

  /** Returns the same names, but skips files on file systems of these types. */
  public ItemNames without(Set<String> types) {
    return new ItemNames(roots, listing, rule, types, mounts, log, skipped);
  }

  /** Returns the same names with other mounts; for tests. */
  ItemNames on(Mounts other) {
    return new ItemNames(roots, listing, rule, excluded, other, log, skipped);
  }

  /** Whether the agent skips the file, so that the program reads it. */
  public boolean skips(FileState file) {
    return mounts.isOf(excluded, file.device())
        || (rule != Rule.COPIES && hasSettableChangeTime(file.device()))
        || holds(skipped, file);
  }

  /** Whether the program may change the file without changing its state, as through a mapping. */
  public boolean mayChangeUnnoticed(FileState file) {
    return holds(skipped, file);
  }

  /** Whether the file is in the set; true for any file once the set is full. */
  private static boolean holds(Set<List<Long>> skipped, FileState file) {
    return !skipped.isEmpty() && (skipped.contains(inode(file)) || skipped.size() >= MAX_SKIPPED);
  }

  /** Skips the file from now on, because the program may change it unnoticed. */
  public void skip(FileState file) {
    if (this != HERE) {
      add(file, skipped);
    }
  }

  /** Returns the same names, but skips files that were already mapped writable. */
  public ItemNames skipping(EarlyMaps early) {
    return new ItemNames(roots, listing, rule, excluded, mounts, log, early.files);
  }

  static void add(FileState file, Set<List<Long>> skipped) {
    if (file.isFile() && skipped.size() < MAX_SKIPPED) {
      skipped.add(inode(file));
    }
  }

  private static List<Long> inode(FileState file) {
    return List.of(file.device(), file.inode());
  }

  private boolean hasSettableChangeTime(long device) {
    boolean settable = mounts.hasSettableChangeTime(device);
    if (settable && !loggedNoChange.getAndSet(true)) {
      log.say(
          "Files on %s are not cached: their change times do not come from a clock, so another file"
              + " may have the same inode and times. If none does, dataset.identity=copy with"
              + " cache.scope=host caches them.",
          mounts.typeOf(device));
    }
    return settable;
  }

  FileState look(String path) {
    return FileState.of(path, mounts);
  }

  /**
   * Whether only the inode number of a file changed although nobody replaced it: some file systems
   * assign inode numbers on first access. From then on, inode numbers on that device are ignored.
   */
  boolean detectsRenumberedInode(String path, FileState before, FileState now) {
    if (before.size() != now.size()
        || before.modifiedNanos() != now.modifiedNanos()
        || before.changedNanos() != now.changedNanos()
        || before.device() != now.device()
        || mounts.hasStableInodes(now.device())) {
      return false;
    }
    if (changing.add(now.device())) {
      log.say(
          "The inode number of %s changes from time to time: files on its file system (%s) are"
              + " identified by path, size, modification and change time, and a file replaced"
              + " within one tick of its clock is mistaken for the old one.",
          path, mounts.typeOf(now.device()));
    }
    return true;
  }

  /** Reports that the bytes at {@code path} in storage do not match the name. */
  void reportWrong(ItemName name, String path) {
    Manifest loaded = manifest();
    Manifest.Line line = name.listed();
    if (loaded != null && line != null) {
      loaded.reportWrong(line, path);
    }
  }

  /** Returns the name of a file in that state; null if device and inode identify it. */
  @Nullable ItemName of(String absolutePath, FileState state) {
    String relative = roots.isEmpty() ? null : relative(roots, absolutePath);
    boolean ofInode =
        rule != Rule.COPIES && (changing.isEmpty() || !changing.contains(state.device()));
    if (relative == null && rule == Rule.HOST && ofInode) {
      return null;
    }
    Manifest loaded = listing == null || relative == null ? null : manifest();
    Manifest.Line line =
        loaded == null || relative == null || state.size() == 0 ? null : loaded.find(relative);
    if (line != null && loaded != null) {
      if (isOlder(loaded, state)) {
        return new ItemName(line.content(), 0, false, false, line);
      }
      if (!loggedNewer.getAndSet(true)) {
        log.say(
            "%s was changed after %s was created: such files are identified by path, inode and"
                + " times. If the manifest is still correct, touch it.",
            absolutePath, listing);
      }
    }
    // No absolute path begins with "./".
    String text = relative == null ? absolutePath : "./" + relative;
    return new ItemName(text, state.modifiedNanos(), ofInode, rule != Rule.COPIES, null);
  }

  /** Returns the path relative to a root; null unless it is certain to be below one. */
  private static @Nullable String relative(List<String> roots, String path) {
    for (String root : roots) {
      if (path.startsWith(root)) {
        String rest = path.substring(root.length());
        return rest.isEmpty() || ("/" + rest + "/").contains("/../") ? null : rest;
      }
    }
    return null;
  }

  private static boolean isOlder(Manifest manifest, FileState state) {
    return state.device() != 0 // Otherwise the change time is unknown.
        && state.modifiedNanos() < manifest.madeNanos
        && state.changedNanos() < manifest.madeNanos;
  }

  /** Returns the time when the file's inode last changed, in nanoseconds since 1970. */
  public static long changedNanos(Path path) throws IOException {
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
          "dataset.manifest=%s cannot be used (%s): items are identified as if there were no"
              + " manifest.",
          from, e.getMessage());
    } finally {
      read = true;
    }
  }

  /**
   * Returns a listed name as a path below the root, in the same form as an opened path; null if it
   * is not below the root.
   */
  private @Nullable String relativeListed(String name) {
    String path = absolute(name.startsWith("/") ? name : roots.get(0) + name);
    return path == null ? null : relative(roots, path);
  }

  /**
   * Returns the path that identifies an item; null if no file system can have it. Keeps "..": after
   * a symbolic link, the normalized path would name another file.
   */
  public static @Nullable String absolute(String path) {
    if (path.isEmpty() || path.indexOf('\0') >= 0) {
      return null;
    }
    String absolute =
        path.charAt(0) == '/'
            ? path
            : SLASHES ? WORKING_DIRECTORY + '/' + path : absolute(path, FileSystems.getDefault());
    return absolute != null && (absolute.contains("/./") || absolute.contains("//"))
        ? absolute.replaceAll("/(\\.?/)+", "/")
        : absolute;
  }

  /** Returns the path for a file system with another syntax, which accepts slashes too. */
  public static @Nullable String absolute(String path, FileSystem files) {
    try {
      String absolute = files.getPath(path).toAbsolutePath().toString();
      return absolute.replace(files.getSeparator(), "/");
    } catch (InvalidPathException e) {
      return null;
    }
  }
}
