package io.coordl.store;

import io.coordl.items.FileState;
import io.coordl.items.ItemFile;
import io.coordl.items.ItemFilter;
import java.io.Closeable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Items in decoded form (pixels before any random transform), in a separate arena or together with
 * the raw items. They are admitted until the arena is full, and never evicted. If the jobs of a
 * group share the arena, they share the items. Entries are keyed by the file ({@link FileState})
 * and the {@link DecodedForm}, so only jobs that decode in the same way share them.
 *
 * <p>Safe for concurrent use. An interrupt may shorten a wait, but causes no exception; the
 * interrupt flag does not change.
 */
public final class DecodedStore implements Closeable {
  /** Maximum length of a decoded item: 8 MiB, a colour image of 1,670 x 1,670. */
  public static final int MAX_BYTES = 8 << 20;

  final ArenaStore arena;
  final StampedItems items;
  private final ItemFilter filter;
  final KeptForms forms;
  private final BooleanSupplier keeps;
  final StoreStatistics statistics;
  final StoreGain gain;

  /** Length of the shortest item that this process has decoded, in bytes. */
  final AtomicLong shortest = new AtomicLong(Long.MAX_VALUE);

  /** Creates a store over {@code arena}, to which this process admits decoded items only. */
  public DecodedStore(ArenaStore arena, ItemFilter filter) {
    this(arena, filter, new KeptForms(), () -> true);
  }

  /** Creates a store that never stops admitting for lack of gain. */
  public DecodedStore(ArenaStore arena, ItemFilter filter, KeptForms forms, BooleanSupplier keeps) {
    this(arena, filter, forms, keeps, StoreGain.silent());
  }

  /**
   * Creates a store over {@code arena}.
   *
   * @param keeps whether items may be admitted now
   * @param gain detects whether cached items are found again
   */
  public DecodedStore(
      ArenaStore arena, ItemFilter filter, KeptForms forms, BooleanSupplier keeps, StoreGain gain) {
    this(
        arena,
        filter,
        forms,
        keeps,
        gain,
        new StoreStatistics(arena, ArenaDescriptor.DECODED_ITEMS));
  }

  /** Creates a store that counts into {@code statistics}, which may be those of another store. */
  DecodedStore(
      ArenaStore arena,
      ItemFilter filter,
      KeptForms forms,
      BooleanSupplier keeps,
      StoreGain gain,
      StoreStatistics statistics) {
    this.forms = forms;
    this.gain = gain;
    this.keeps = () -> !gain.isStopped() && keeps.getAsBoolean();
    this.arena = arena;
    this.items = new StampedItems(arena, arena);
    this.statistics = statistics;
    this.filter = filter;
  }

  /**
   * Returns the item at {@code path} in its current state; null if it is not part of the data set,
   * must not be cached, is missing, unreadable or not a regular file, or if nothing may be admitted
   * now.
   */
  public @Nullable DecodedItem item(String path) {
    ItemFile file = keeps.getAsBoolean() ? ItemFile.of(path, filter, true) : null;
    if (file == null || file.isLeftToProgram() || !file.isReadable()) {
      return null;
    }
    DecodedItem item = new DecodedItem(this, file);
    forms.request(item);
    return item;
  }

  public StoreStatistics statistics() {
    return statistics;
  }

  /**
   * Whether there is room now for the shortest item that this process has decoded, if any. If
   * false, there is no use in reading a file only to admit it.
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
