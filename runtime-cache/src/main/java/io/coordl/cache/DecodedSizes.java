package io.coordl.cache;

import io.coordl.log.UserLog;
import java.io.Closeable;
import org.jspecify.annotations.Nullable;

/**
 * How many bytes items take in the form in which {@code decoded=share} would keep them: those that
 * the program decodes while this learns. Of them it keeps a mebibyte. Safe for concurrent use.
 */
public final class DecodedSizes implements Closeable {
  /** What is not kept is counted all the same. */
  private static final ByteBudget ROOM = ByteBudget.parse("1m");

  private final DecodedStore store;
  private volatile boolean learning;

  private DecodedSizes(ArenaStore arena, ItemFilter filter) {
    this.store = new DecodedStore(arena, path -> learning && filter.isItem(path));
  }

  /** Knows no item, and does not learn; null if it has no memory, which {@code log} hears of. */
  public static @Nullable DecodedSizes open(ItemFilter filter, UserLog log) {
    ArenaStore arena = ArenaStore.openProcess(ArenaStore.SHARED_MEMORY, ROOM, log);
    return arena == null ? null : new DecodedSizes(arena, filter);
  }

  /** For those who decode; it knows no item while this does not learn. */
  public DecodedStore store() {
    return store;
  }

  public void learn(boolean now) {
    learning = now;
  }

  /** Items seen, each as often as it was decoded; those kept once. */
  public long items() {
    return store.statistics().misses();
  }

  /** Mean bytes of an item, 0 if none was seen. */
  public long meanBytes() {
    StoreStatistics seen = store.statistics();
    return seen.misses() == 0 ? 0 : seen.missBytes() / seen.misses();
  }

  @Override
  public void close() {
    store.close();
  }
}
