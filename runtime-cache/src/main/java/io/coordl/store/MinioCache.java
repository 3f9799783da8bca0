package io.coordl.store;

import io.coordl.bridge.ItemSource;
import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import io.coordl.items.FileState;
import io.coordl.items.ItemFile;
import io.coordl.items.ItemFilter;
import io.coordl.items.ItemKey;
import io.coordl.items.ItemNames;
import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The MinIO cache for the program's file reads: an item is admitted when it is first read, until
 * the store is full, and never evicted. The program's own call reads items that are not cached.
 *
 * <p>Files of at most {@link #WHOLE_LIMIT} bytes are cached whole, larger ones in blocks of {@link
 * #BLOCK} bytes. Each open checks the file's state ({@link FileState}), so a changed file is a new
 * item. The program behaves as it would without the cache: its own call handles a path that is not
 * a readable regular file, and a file that changes during the read.
 *
 * <p>Safe for concurrent use. An interrupt may shorten a wait, but causes no exception; the
 * interrupt flag does not change.
 */
public final class MinioCache implements ItemSource {
  /** Maximum size of a file that is one item. */
  public static final int WHOLE_LIMIT = 8 << 20;

  public static final int BLOCK = 1 << 20;

  /** The heap size divided by this is the budget of prefetched items that another host caches. */
  private static final int PREFETCHED_HEAP_DIVISOR = 16;

  private final @Nullable ArenaStore arena;
  private final @Nullable StampedItems store;
  private final @Nullable PrefetchedItems prefetched;
  private final ItemFilter filter;
  private final KeptForms forms;
  private final BooleanSupplier keeps;
  private final StoreStatistics statistics;
  private final StoreGain gain;

  /**
   * Whether other processes may have admitted items here. They may have permissions that this
   * process lacks.
   */
  private final boolean isShared;

  /**
   * Creates a cache over {@code store}.
   *
   * @param store null to observe only: then the program reads all items itself
   */
  public MinioCache(@Nullable ArenaStore store, ItemFilter filter) {
    this(store, filter, new KeptForms(), () -> true);
  }

  MinioCache(
      @Nullable ArenaStore store, ItemFilter filter, KeptForms forms, BooleanSupplier keeps) {
    this(store, filter, forms, keeps, StoreGain.silent());
  }

  /**
   * Creates a cache over {@code store}.
   *
   * @param keeps whether items may be admitted and served now
   * @param gain detects whether cached items are found again
   */
  public MinioCache(
      @Nullable ArenaStore store,
      ItemFilter filter,
      KeptForms forms,
      BooleanSupplier keeps,
      StoreGain gain) {
    this.forms = forms;
    this.gain = gain;
    this.keeps = () -> !gain.isStopped() && keeps.getAsBoolean();
    this.arena = store;
    this.store = store == null ? null : new StampedItems(store, store);
    this.statistics = new StoreStatistics(store);
    this.isShared = store != null && store.isShared();
    this.prefetched = null;
    this.filter = filter;
  }

  MinioCache(ItemStore store, ArenaStore arena, ItemFilter filter) {
    this(store, arena, filter, StoreGain.silent());
  }

  /**
   * Creates a cache over {@code store}, which caches items here, in {@code arena}, and on other
   * hosts or in Redis.
   */
  public MinioCache(ItemStore store, ArenaStore arena, ItemFilter filter, StoreGain gain) {
    this.forms = new KeptForms();
    this.gain = gain;
    this.keeps = () -> !gain.isStopped(); // All jobs share this host's raw items.
    this.arena = arena;
    this.store = new StampedItems(store, arena);
    this.statistics = new StoreStatistics(arena);
    this.isShared = true;
    this.prefetched =
        new PrefetchedItems(Runtime.getRuntime().maxMemory() / PREFETCHED_HEAP_DIVISOR);
    this.filter = filter;
  }

  public StoreStatistics statistics() {
    return statistics;
  }

  @Override
  public @Nullable OpenItem open(String path) {
    String absolute = ItemNames.absolute(path);
    if (absolute == null || !filter.isItem(absolute)) {
      return null;
    }
    if (store == null || !keeps.getAsBoolean()) {
      return ItemFile.mayBeStored(absolute) ? observed(path) : null;
    }
    ItemFile file = ItemFile.of(absolute, filter.names());
    if (file == null) {
      return null;
    }
    if (file.isLeftToProgram()) {
      return observed(path);
    }
    DecodedItem requester = forms.requester(file);
    boolean admit = forms.admitsRaw(requester);
    if (file.size() > WHOLE_LIMIT) {
      OpenItem item =
          new PiecewiseItem(path, file, BLOCK, false, store, statistics, gain, () -> admit);
      try {
        item.hold();
        return item;
      } catch (IOException e) {
        return null;
      }
    }
    return openWhole(path, file, store, requester, admit);
  }

  /**
   * Returns an item that the program's own stream reads. Its size is unknown: a stat of each file
   * would be a third of the cost of observing.
   */
  private OpenItem observed(String path) {
    statistics.count(Outcome.OBSERVED);
    return new OpenItem(path, OpenItem.UNKNOWN_SIZE) {
      @Override
      protected void release() {
        statistics.bytes(Origin.STORAGE, transferred());
      }
    };
  }

  private @Nullable OpenItem openWhole(
      String path,
      ItemFile file,
      StampedItems from,
      @Nullable DecodedItem requester,
      boolean admit) {
    long start = System.nanoTime();
    Fetched fetched;
    try {
      fetched = admit ? fetch(file, from, requester) : lookupResult(find(file, from));
    } catch (IOException e) {
      statistics.count(Outcome.UNREADABLE);
      return null;
    }
    if (isShared && fetched.outcome() != Outcome.ADMITTED && !file.isReadable()) {
      statistics.count(Outcome.UNREADABLE);
      return null; // Another process may have read it, or this one may have lost permission since.
    }
    count(file, fetched.outcome());
    Origin origin = fetched.outcome().origin();
    statistics.bytes(origin, file.size());
    OpenItem item = new WholeItem(path, file, fetched.content(), origin);
    item.fetched(start, System.nanoTime(), 0);
    return item;
  }

  private void count(ItemFile file, Outcome outcome) {
    statistics.count(outcome);
    if (outcome == Outcome.HIT || outcome == Outcome.PEER) {
      gain.hit();
    } else if (outcome == Outcome.ADMITTED || outcome == Outcome.FULL) {
      gain.missed(file);
    }
  }

  private static @Nullable ByteBuffer find(ItemFile file, StampedItems from) {
    return from.find(file.entry(ItemKey.WHOLE), file.stamp());
  }

  private Fetched fetch(ItemFile file, StampedItems from, @Nullable DecodedItem requester)
      throws IOException {
    ByteBuffer here = prefetched == null ? null : prefetched.take(file.key());
    return here != null
        ? lookupResult(here)
        : from.fetch(
            file.entry(ItemKey.WHOLE),
            (int) file.size(),
            file.stamp(),
            (target, at) -> read(file, target, at, requester));
  }

  /**
   * Returns the result of a lookup that must not admit; {@code content} is null if nothing was
   * found.
   */
  private static Fetched lookupResult(@Nullable ByteBuffer content) {
    return new Fetched(content == null ? Outcome.SPARED : Outcome.HIT, content);
  }

  private boolean read(ItemFile file, byte[] target, int offset, @Nullable DecodedItem requester)
      throws IOException {
    long start = System.nanoTime();
    boolean read = file.readWhole(target, offset);
    long nanos = System.nanoTime() - start;
    if (requester != null) {
      requester.readNanos.addAndGet(nanos);
    }
    forms.raw(file.size(), nanos);
    return read;
  }

  /**
   * Marks this thread permanently as one that prefetches: it reads and decodes items before the
   * program requests them.
   */
  public void prefetchesHere() {
    forms.prefetchesHere();
  }

  /**
   * Whether the item need not be prefetched, because it is in memory or nothing may be cached now.
   * Not counted as a hit.
   */
  public boolean isKept(String path) {
    ItemFile file = whole(path);
    return file != null && isHere(file);
  }

  private boolean isHere(ItemFile file) {
    return !keeps.getAsBoolean()
        || (arena != null && arena.isOpening())
        || (store != null && find(file, store) != null)
        || (prefetched != null && prefetched.has(file.key()));
  }

  /**
   * Loads an item before the program requests it. Skips large files. With several hosts, skips the
   * item if too many items that other hosts cache already wait here. Runs on agent threads.
   *
   * @param path path of the item, as the program will pass it
   * @return false if the item could not be cached; the caller stops after several such items
   */
  public boolean prefetch(String path) {
    ItemFile file = whole(path);
    if (file == null || store == null || gain.isStopped()) {
      return false;
    }
    if (prefetched != null && !prefetched.makeRoom(file.size())) {
      return true;
    }
    OpenItem item = openWhole(path, file, store, null, true);
    if (item != null) {
      ByteBuffer content = item.content();
      if (prefetched != null && content != null && find(file, store) == null) {
        prefetched.put(file.key(), content);
      }
      item.close();
    }
    return isHere(file);
  }

  private @Nullable ItemFile whole(String path) {
    ItemFile file = ItemFile.of(path, filter, true);
    return file != null && !file.isLeftToProgram() && file.size() > 0 && file.size() <= WHOLE_LIMIT
        ? file
        : null;
  }

  @Override
  public @Nullable OpenItem openRandomAccess(String path) {
    ItemFile file = ItemFile.of(path, filter, false);
    return file == null || !file.isReadable() ? null : randomAccess(path, file);
  }

  @Override
  public boolean takesOpened(String path) {
    return FileState.canStatDescriptors();
  }

  @Override
  public @Nullable OpenItem openOpened(String path, FileDescriptor opened) {
    String absolute = ItemNames.absolute(path);
    if (absolute == null || !ItemFile.mayBeStored(absolute) || !filter.mayBeItem(absolute)) {
      return null;
    }
    ItemFile file = ItemFile.of(absolute, opened, filter.names());
    return file == null ? null : randomAccess(path, file);
  }

  private OpenItem randomAccess(String path, ItemFile file) {
    if (store == null || file.size() == 0 || file.isLeftToProgram() || !keeps.getAsBoolean()) {
      // The kernel reports size 0 for generated files, such as in /proc or behind a link to it.
      return new WholeItem(path, file, null, Origin.STORAGE);
    }
    boolean whole = file.size() <= WHOLE_LIMIT;
    int pieceBytes = whole ? (int) file.size() : BLOCK;
    // If the path alone decides, the file remains an item.
    BooleanSupplier mayAdmit =
        filter.goesByPath()
            ? () -> !forms.keepsSample()
            : () -> filter.isItem(file.path()) && !forms.keepsSample();
    return new PiecewiseItem(path, file, pieceBytes, whole, store, statistics, gain, mayAdmit);
  }

  @Override
  public void mapsToWrite(FileChannel channel) {
    filter.names().skip(FileState.of(channel));
  }

  /** Files of other {@code FileSystem}s have no known identity and are not cached. */
  @Override
  public @Nullable OpenItem openForeign(Path path) {
    return null;
  }
}
