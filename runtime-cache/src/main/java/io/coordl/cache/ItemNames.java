package io.coordl.cache;

import io.coordl.log.UserLog;
import java.io.IOException;
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
 * How items are identified, and which files may be kept at all.
 *
 * <ul>
 *   <li>On one host by device, inode, size and modification time, whatever their path.
 *   <li>Among hosts, and below a root, by path (relative to the root), inode, size and modification
 *       time: device numbers differ between hosts and containers. A file that all see on one file
 *       server, or in one image, is the same item.
 *   <li>With a manifest by content and size: other modification times make no other item, nor do
 *       other paths.
 *   <li>With {@link #copies}, which the user has to request, by path, size and modification time
 *       alone: a file copied by {@code cp -p} or {@code rsync -a} is the same item on every host,
 *       and so is one that replaces a file at the same size and time.
 * </ul>
 *
 * <p>For the first two, the change time is kept with the item ({@link StampedItems}): if only that
 * differs, the bytes are compared once. On a file system that changes inodes from time to time,
 * which is noticed while reading items, path and change time replace the inode.
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
  /**
   * Items of this host alone, on any file system; remembers no file that is left to the program.
   */
  public static final ItemNames HERE =
      new ItemNames(List.of(), null, Rule.HOST, Set.of(), Mounts.HERE, sentence -> {}, none());

  private static final int MOST_LEFT = 1 << 16;

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

  /** Devices on which inodes of files change. */
  private final Set<Long> changing = ConcurrentHashMap.newKeySet();

  /** Device and inode of files that the program can change unseen. */
  private final Set<List<Long>> left;

  private final AtomicBoolean saidNewer = new AtomicBoolean();
  private final AtomicBoolean saidNoChange = new AtomicBoolean();
  private @Nullable Manifest manifest;

  /** Written after the manifest. */
  private volatile boolean read;

  private ItemNames(
      List<String> roots,
      @Nullable Path listing,
      Rule rule,
      Set<String> excluded,
      Mounts mounts,
      UserLog log,
      Set<List<Long>> left) {
    this.left = left;
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

  /** Items of this host alone; logs what it finds out about file systems. */
  public static ItemNames here(UserLog log) {
    return new ItemNames(List.of(), null, Rule.HOST, Set.of(), Mounts.HERE, log, none());
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
        log.say("dataset.root=%s is no directory here: no item is known by its path in it.", root);
        return here(log);
      }
      String named = Objects.requireNonNull(MinioCache.absolute(root + "/"));
      // A program may have looked up where a link to the root leads.
      String real = directory.toRealPath().toString();
      List<String> roots =
          Stream.of(named, real)
              .map(path -> path.endsWith("/") ? path : path + "/")
              .distinct()
              .toList();
      Path listing = manifest == null ? null : Path.of(manifest);
      return new ItemNames(roots, listing, Rule.HOST, Set.of(), Mounts.HERE, log, none());
    } catch (IOException | InvalidPathException e) {
      log.say("dataset.root=%s cannot be used (%s): no item is known by its path in it.", root, e);
      return here(log);
    }
  }

  /** The same, for items that other hosts keep, too. */
  public ItemNames amongHosts() {
    Rule wider = rule == Rule.COPIES ? Rule.COPIES : Rule.HOSTS;
    return new ItemNames(roots, listing, wider, excluded, mounts, log, left);
  }

  /** The same, except that neither inode nor change time counts where paths do. */
  public ItemNames copies() {
    return new ItemNames(roots, listing, Rule.COPIES, excluded, mounts, log, left);
  }

  /** The same, except that files on file systems of these types are left to the program. */
  public ItemNames without(Set<String> types) {
    return new ItemNames(roots, listing, rule, types, mounts, log, left);
  }

  /** The same with other mounts; for tests. */
  ItemNames on(Mounts other) {
    return new ItemNames(roots, listing, rule, excluded, other, log, left);
  }

  /** Whether the file is left to the program. */
  boolean leaves(FileState file) {
    return mounts.isOf(excluded, file.device())
        || (rule != Rule.COPIES && tellsNoChange(file.device()))
        || holds(left, file);
  }

  /** If there are too many to be known, each file may be one of them. */
  private static boolean holds(Set<List<Long>> left, FileState file) {
    return !left.isEmpty() && (left.contains(inode(file)) || left.size() >= MOST_LEFT);
  }

  /** From now on the file is left to the program, which may change it unseen. */
  void leave(FileState file) {
    if (this != HERE) {
      add(file, left);
    }
  }

  /** The same, except that files that were mapped writable before are left to the program. */
  public ItemNames leaving(EarlyMaps early) {
    return new ItemNames(roots, listing, rule, excluded, mounts, log, early.files);
  }

  static void add(FileState file, Set<List<Long>> left) {
    if (file.isFile() && left.size() < MOST_LEFT) {
      left.add(inode(file));
    }
  }

  private static List<Long> inode(FileState file) {
    return List.of(file.device(), file.inode());
  }

  private boolean tellsNoChange(long device) {
    boolean tellsNone = mounts.tellsNoChange(device);
    if (tellsNone && !saidNoChange.getAndSet(true)) {
      log.say(
          "Files of %s are left to the program: change times there are no clock's, and another file"
              + " may have the same inode and times. If none has, dataset.identity=copy keeps them,"
              + " with cache.scope=host.",
          mounts.typeOf(device));
    }
    return tellsNone;
  }

  FileState look(String path) {
    return FileState.of(path, mounts);
  }

  /**
   * Whether a file changed only its inode although nobody replaced it: some file systems number
   * inodes as they meet them. From then on, inodes there do not count.
   */
  boolean isSameByAnotherInode(String path, FileState before, FileState now) {
    if (before.size() != now.size()
        || before.modifiedNanos() != now.modifiedNanos()
        || before.changedNanos() != now.changedNanos()
        || before.device() != now.device()
        || mounts.keepsInodes(now.device())) {
      return false;
    }
    if (changing.add(now.device())) {
      log.say(
          "%s has another inode each time it is looked at: files of its file system (%s) are known"
              + " by path, size, modification and change time, and one that is replaced within a"
              + " tick of its clock is taken for the old one.",
          path, mounts.typeOf(now.device()));
    }
    return true;
  }

  /** The bytes under that name, read from storage at {@code path}, are not what it says. */
  void isWrong(ItemName name, String path) {
    Manifest believed = manifest();
    Manifest.Line line = name.listed();
    if (believed != null && line != null) {
      believed.isWrong(line, path);
    }
  }

  /** The name of a file in that state; null if device and inode identify it. */
  @Nullable ItemName of(String absolutePath, FileState state) {
    String relative = roots.isEmpty() ? null : relative(roots, absolutePath);
    boolean ofInode =
        rule != Rule.COPIES && (changing.isEmpty() || !changing.contains(state.device()));
    if (relative == null && rule == Rule.HOST && ofInode) {
      return null;
    }
    Manifest listed = listing == null || relative == null ? null : manifest();
    Manifest.Line line =
        listed == null || relative == null || state.size() == 0 ? null : listed.find(relative);
    if (line != null && listed != null) {
      if (isOlder(listed, state)) {
        return new ItemName(line.content(), 0, false, false, line);
      }
      if (!saidNewer.getAndSet(true)) {
        log.say(
            "%s was changed after %s was made: it and others like it are known by path, inode and"
                + " times. If the manifest is right about them, touch it.",
            absolutePath, listing);
      }
    }
    // No absolute path begins like this.
    String text = relative == null ? absolutePath : "./" + relative;
    return new ItemName(text, state.modifiedNanos(), ofInode, rule != Rule.COPIES, null);
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

  private static boolean isOlder(Manifest manifest, FileState state) {
    return state.device() != 0 // Otherwise the change time is unknown.
        && state.modifiedNanos() < manifest.madeNanos
        && state.changedNanos() < manifest.madeNanos;
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
          "dataset.manifest=%s cannot be used (%s): items are known as without it.",
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
