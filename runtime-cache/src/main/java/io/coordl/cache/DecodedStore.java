package io.coordl.cache;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Items in decoded form (pixels before any random transform), in an arena of their own: admitted
 * until it is full, never evicted, shared by all jobs of the group if the arena is. What is kept is
 * found by the file (path, size, modification time) and the {@link DecodedForm}, so that jobs which
 * decode alike share and others do not meet.
 *
 * <p>Safe for concurrent use; never interruptible, never clears the interrupt flag.
 */
public final class DecodedStore implements Closeable {
  /** The longest decoded item that is kept: 8 MiB, an image of 1,670 x 1,670 in colour. */
  public static final int MAX_BYTES = ArenaDescriptor.MAX_ITEM_BYTES;

  private final ArenaStore store;
  private final ItemFilter filter;
  private final StoreCounters counters = new StoreCounters();

  /** A store over {@code arena}, which holds nothing but decoded items. */
  public DecodedStore(ArenaStore arena, ItemFilter filter) {
    this.store = arena;
    this.filter = filter;
  }

  /**
   * The item at {@code path} as it is now; null if it is not one of the data set, or is missing,
   * unreadable or not a regular file.
   *
   * @param path as the program wrote it
   */
  public @Nullable DecodedItem item(String path) {
    String absolute = MinioCache.absolute(path);
    if (absolute == null || !filter.isItem(absolute)) {
      return null;
    }
    ItemFile file = ItemFile.of(absolute);
    return file == null ? null : new DecodedItem(this, file);
  }

  /** What this process had of the store so far. */
  public StoreStatistics statistics() {
    return counters.snapshot(store);
  }

  @Nullable ByteBuffer find(ItemFile file, DecodedForm form) {
    ByteBuffer found = store.find(file.key(form.id()));
    if (found != null) {
      counters.hit();
      counters.hitBytes(found.remaining());
    }
    return found;
  }

  /** As {@link #find}, for whoever will not use the bytes: no hit. */
  boolean holds(ItemFile file, DecodedForm form) {
    return store.find(file.key(form.id())) != null;
  }

  void put(ItemFile file, DecodedForm form, long length, DecodedItem.Source source) {
    counters.missBytes(length);
    if (length > MAX_BYTES) {
      counters.count(ArenaStore.Outcome.FULL);
      return;
    }
    ArenaStore.Loader copy =
        (target, offset) -> {
          source.copyTo(ByteBuffer.wrap(target, offset, (int) length));
          return file.unchanged();
        };
    try {
      counters.count(store.fetch(file.key(form.id()), (int) length, copy).outcome());
    } catch (IOException e) {
      throw new IllegalStateException("copying in memory does no input", e);
    }
  }

  /** Leaves the arena; see {@link ArenaStore#close}. */
  @Override
  public void close() {
    store.close();
  }
}
