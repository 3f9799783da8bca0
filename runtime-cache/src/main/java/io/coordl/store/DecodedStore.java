package io.coordl.store;

import io.coordl.items.FileState;
import io.coordl.items.ItemFile;
import io.coordl.items.ItemFilter;
import java.io.Closeable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Items in decoded form (pixels before any random transform), in an arena of their own or beside
 * the raw items: admitted until it is full, never evicted, shared by all jobs of the group if the
 * arena is. Entries are keyed by the file ({@link FileState}) and the {@link DecodedForm}, so only
 * jobs that decode in the same way share them.
 *
 * <p>Safe for concurrent use; never interruptible, never clears the interrupt flag.
 */
public final class DecodedStore implements Closeable {
  /** The longest decoded item that is kept: 8 MiB, an image of 1,670 x 1,670 in colour. */
  public static final int MAX_BYTES = 8 << 20;

  final ArenaStore arena;
  final StampedItems items;
  private final ItemFilter filter;
  final KeptForms forms;
  private final BooleanSupplier keeps;
  final StoreStatistics statistics;
  final StoreGain gain;

  /** Bytes of the shortest item that this process has made. */
  final AtomicLong shortest = new AtomicLong(Long.MAX_VALUE);

  /** A store over {@code arena}, in which this process keeps decoded items only. */
  public DecodedStore(ArenaStore arena, ItemFilter filter) {
    this(arena, filter, new KeptForms(), () -> true);
  }

  /** As below, for a store that never gives up. */
  public DecodedStore(ArenaStore arena, ItemFilter filter, KeptForms forms, BooleanSupplier keeps) {
    this(arena, filter, forms, keeps, StoreGain.untold());
  }

  /**
   * A store over {@code arena}.
   *
   * @param keeps whether items are to be kept now
   * @param gain whether kept items are found again
   */
  public DecodedStore(
      ArenaStore arena, ItemFilter filter, KeptForms forms, BooleanSupplier keeps, StoreGain gain) {
    this.forms = forms;
    this.gain = gain;
    this.keeps = () -> !gain.isStopped() && keeps.getAsBoolean();
    this.arena = arena;
    this.items = new StampedItems(arena, arena);
    this.statistics = new StoreStatistics(arena, ArenaDescriptor.DECODED_ITEMS);
    this.filter = filter;
  }

  /**
   * The item at {@code path} as it is now; null if it is not part of the data set, is missing,
   * unreadable or not a regular file, or if nothing is to be kept now.
   */
  public @Nullable DecodedItem item(String path) {
    ItemFile file = keeps.getAsBoolean() ? ItemFile.of(path, filter, true) : null;
    if (file == null || file.isLeft() || !file.isReadable()) {
      return null;
    }
    DecodedItem item = new DecodedItem(this, file);
    forms.ask(item);
    return item;
  }

  public StoreStatistics statistics() {
    return statistics;
  }

  /**
   * Whether there is room for the shortest item that this process has made; once false, it stays
   * false. A caller that would read a file only to keep it need not read it then.
   */
  public boolean mayKeepMore() {
    long length = shortest.get();
    return length == Long.MAX_VALUE || arena.hasRoom(length);
  }

  @Override
  public void close() {
    arena.close();
  }
}
