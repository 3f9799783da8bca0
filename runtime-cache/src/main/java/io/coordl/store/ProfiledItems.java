package io.coordl.store;

import io.coordl.bridge.ItemSource;
import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import io.coordl.items.DirectReads;
import io.coordl.items.ForeignFile;
import io.coordl.items.ItemFile;
import io.coordl.items.ItemFilter;
import io.coordl.items.ItemNames;
import io.coordl.items.StoredFile;
import io.coordl.telemetry.log.UserLog;
import java.io.Closeable;
import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The items of a job that is being profiled. The phase determines their source: the program's own
 * reads, always storage, or always the profile's own store. Items are remembered so that they can
 * be loaded into that store before the program requests them.
 *
 * <p>The program itself reads files that stay open across samples and files larger than {@link
 * MinioCache#WHOLE_LIMIT}; they count as read from storage. Safe for concurrent use.
 */
public final class ProfiledItems implements ItemSource, Closeable {
  public enum From {
    /** The program's own reads. */
    PROGRAM,
    /** Storage, bypassing the page cache where possible. */
    STORAGE,
    /** The profile's own store; missing items are read from storage and admitted. */
    MEMORY
  }

  /** Maximum number of files of a data set that are remembered or listed. */
  private static final int MAX_FILES = 1 << 20;

  private static final long MAX_LISTING_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final Path HOME = Path.of(System.getProperty("user.home", "/"));

  private final ItemFilter filter;
  private final UserLog log;
  private final DirectReads storage = new DirectReads();
  private final Map<String, StoredFile> seen = new ConcurrentHashMap<>();
  private volatile From from = From.PROGRAM;
  private volatile @Nullable ArenaStore store;
  private volatile boolean foreign;
  private volatile boolean large;

  public ProfiledItems(ItemFilter filter, UserLog log) {
    this.filter = filter;
    this.log = log;
  }

  public void from(From now) {
    from = now;
  }

  /** Describes how storage was read. */
  public String access() {
    String local = storage.access();
    String small =
        foreign && local.isEmpty() ? "as the program reads them: another file system" : local;
    if (!large) {
      return small;
    }
    String own = "files larger than 8 MiB as the program reads them";
    return small.isEmpty() ? own : (small.equals("direct") ? "partly direct" : small) + "; " + own;
  }

  @Override
  public @Nullable OpenItem open(String path) {
    ItemFile file = ItemFile.of(path, filter, true);
    return file == null ? null : open(path, file);
  }

  @Override
  public @Nullable OpenItem openRandomAccess(String path) {
    ItemFile file = ItemFile.of(path, filter, false);
    if (file == null) {
      return null;
    }
    return filter.isItem(file.path())
        ? open(path, file)
        : new WholeItem(path, file, null, Origin.STORAGE); // Only measured.
  }

  @Override
  public void mapsToWrite(FileChannel channel) {}

  @Override
  public boolean takesOpened(String path) {
    return false;
  }

  @Override
  public @Nullable OpenItem openOpened(String path, FileDescriptor opened) {
    return null;
  }

  @Override
  public @Nullable OpenItem openForeign(Path path) {
    if (!filter.isItem(path.toString())) {
      return null;
    }
    ForeignFile file = ForeignFile.of(path);
    if (file == null) {
      return null;
    }
    foreign = true;
    return open(path.toString(), file);
  }

  private @Nullable OpenItem open(String path, StoredFile file) {
    From now = from;
    ArenaStore cache = store;
    boolean tooLarge = file.size() > MinioCache.WHOLE_LIMIT;
    boolean skipped = file.size() == 0 || tooLarge;
    if (tooLarge && now == From.STORAGE) {
      large = true;
    }
    if (!skipped && seen.size() < MAX_FILES) {
      seen.put(file.location(), file);
    }
    if (skipped || now == From.PROGRAM || (now == From.MEMORY && cache == null)) {
      return new WholeItem(path, file, null, Origin.STORAGE);
    }
    long start = System.nanoTime();
    try {
      Fetched fetched =
          now == From.STORAGE || cache == null
              ? new Fetched(Outcome.FULL, stored(file))
              : fetch(cache, file);
      OpenItem item = new WholeItem(path, file, fetched.content(), fetched.outcome().origin());
      item.fetched(start, System.nanoTime(), 0);
      return item;
    } catch (IOException e) {
      return null; // The program's own call hits the same error.
    }
  }

  private Fetched fetch(ArenaStore cache, StoredFile file) throws IOException {
    return cache.fetch(
        file.key(), (int) file.size(), (target, offset) -> read(file, target, offset));
  }

  private @Nullable ByteBuffer stored(StoredFile file) throws IOException {
    byte[] bytes = new byte[(int) file.size()];
    return read(file, bytes, 0) ? ByteBuffer.wrap(bytes) : null;
  }

  /** Reads from storage, bypassing caches where possible; false if the file has changed. */
  private boolean read(StoredFile file, byte[] target, int offset) throws IOException {
    return file instanceof ItemFile local
        ? storage.read(local, target, offset)
        : ((ForeignFile) file).read(target, offset);
  }

  // ---- the data set

  /** Files of a data set; {@code whole} is true if the list is complete. */
  public record Listing(List<Item> items, long bytes, boolean whole) {}

  public int seen() {
    return seen.size();
  }

  /**
   * Lists all files with the same extensions as the items, in the items' directories and in sibling
   * directories. Takes up to 30 s for each directory tree.
   */
  public Listing listed() {
    Map<String, StoredFile> found = new HashMap<>(seen);
    boolean whole = true;
    for (Path root : roots()) {
      whole &= list(root, found);
    }
    long bytes = found.values().stream().mapToLong(StoredFile::size).sum();
    List<Item> items = found.values().stream().map(Item::new).toList();
    return new Listing(items, bytes, whole && found.size() < MAX_FILES);
  }

  /**
   * Returns the directories of the items. If several have the same parent, the parent replaces
   * them, unless it is likely to contain much else.
   */
  private Set<Path> roots() {
    Map<Path, Set<Path>> parents = new HashMap<>();
    for (StoredFile file : seen.values()) {
      Path directory = pathOf(file).toAbsolutePath().getParent();
      if (directory != null) {
        Path above = directory.getParent();
        parents
            .computeIfAbsent(above == null ? directory : above, unused -> new HashSet<>())
            .add(directory);
      }
    }
    Set<Path> roots = new HashSet<>();
    parents.forEach(
        (above, directories) -> {
          if (directories.size() > 1 && above.getParent() != null && !above.equals(HOME)) {
            roots.add(above);
          } else {
            roots.addAll(directories);
          }
        });
    return roots;
  }

  private static Path pathOf(StoredFile file) {
    return file instanceof ForeignFile other ? other.path() : Path.of(file.location());
  }

  private boolean list(Path root, Map<String, StoredFile> found) {
    Set<String> endings = new HashSet<>();
    seen.values().forEach(file -> endings.add(ending(file.location())));
    boolean local = root.getFileSystem() == FileSystems.getDefault();
    long begun = System.nanoTime();
    try {
      Files.walkFileTree(
          root,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
              if (attributes.isRegularFile()
                  && attributes.size() > 0
                  && attributes.size() <= MinioCache.WHOLE_LIMIT
                  && endings.contains(ending(path.toString()))) {
                add(path);
              }
              return found.size() < MAX_FILES && System.nanoTime() - begun < MAX_LISTING_NANOS
                  ? FileVisitResult.CONTINUE
                  : FileVisitResult.TERMINATE;
            }

            private void add(Path path) {
              StoredFile file =
                  local ? ItemFile.of(path.toString(), ItemNames.HERE) : ForeignFile.of(path);
              if (file != null) {
                found.putIfAbsent(file.location(), file);
              }
            }

            @Override
            public FileVisitResult visitFileFailed(Path path, IOException e) {
              return FileVisitResult.CONTINUE; // The program cannot read it either.
            }
          });
      return System.nanoTime() - begun < MAX_LISTING_NANOS;
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  private static String ending(String name) {
    int dot = name.lastIndexOf('.');
    return dot < name.lastIndexOf('/') ? "" : name.substring(dot + 1);
  }

  /** One item that the profile itself reads or caches. */
  public final class Item {
    private final StoredFile file;

    private Item(StoredFile file) {
      this.file = file;
    }

    public long size() {
      return file.size();
    }

    /** Reads the item from storage; false if its file has changed. */
    public boolean readStored() throws IOException {
      return stored(file) != null;
    }

    /** Loads the item into the store; returns whether it is cached now. */
    public boolean keep() throws IOException {
      ArenaStore cache = store;
      Outcome outcome = cache == null ? Outcome.FULL : fetch(cache, file).outcome();
      return outcome == Outcome.HIT || outcome == Outcome.ADMITTED || outcome == Outcome.CONFIRMED;
    }

    /**
     * Copies the item from the store, as the program's reader would; returns the bytes copied, 0 if
     * the item is not cached.
     */
    public int copyKept(byte[] target) {
      ArenaStore cache = store;
      ByteBuffer content = cache == null ? null : cache.find(file.key());
      if (content == null) {
        return 0;
      }
      int length = Math.min(target.length, content.remaining());
      content.get(content.position(), target, 0, length);
      return length;
    }
  }

  // ---- the store

  /** Opens the store and returns its capacity in bytes; 0 if there is no memory for it. */
  public synchronized long openStore(ByteBudget budget) {
    ArenaStore open = store;
    if (open == null) {
      open = ArenaStore.openProcess(ArenaStore.SHARED_MEMORY, budget, log);
      store = open;
    }
    return open == null ? 0 : open.capacity();
  }

  /** Drops the cached items to make room for others. */
  public synchronized void closeStore() {
    ArenaStore open = store;
    store = null;
    if (open != null) {
      open.close();
    }
  }

  public synchronized long kept() {
    ArenaStore open = store;
    return open == null ? 0 : open.used();
  }

  @Override
  public void close() {
    from = From.PROGRAM;
    closeStore();
  }
}
