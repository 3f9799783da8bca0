package io.coordl.store;

import io.coordl.bridge.Origin;
import io.coordl.items.FileState;
import io.coordl.items.ItemFilter;
import io.coordl.items.ItemKey;
import io.coordl.items.ItemNames;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Prepared samples, in a separate arena or together with items in other forms. They are admitted
 * until the arena is full, and never evicted. If the jobs of a group share the arena, they share
 * the samples. The caller chooses each sample's key.
 *
 * <p>Safe for concurrent use. An interrupt may shorten a wait, but causes no exception; the
 * interrupt flag does not change.
 */
public final class PreparedStore implements Closeable {
  public static final int MAX_BYTES = 8 << 20;

  private final ArenaStore store;
  private final KeptForms forms;
  private final ItemNames names;
  private final StoreStatistics statistics;

  /**
   * Creates a store over {@code arena}; {@code forms} coordinates it with the stores of other
   * forms.
   */
  public PreparedStore(ArenaStore arena, KeptForms forms) {
    this(arena, forms, ItemNames.HERE);
  }

  /**
   * Creates a store over {@code arena}.
   *
   * @param forms coordinates it with the stores of other forms
   * @param names which files must not be cached
   */
  public PreparedStore(ArenaStore arena, KeptForms forms, ItemNames names) {
    this.names = names;
    this.store = arena;
    this.statistics = new StoreStatistics(arena, ArenaDescriptor.PREPARED_ITEMS);
    this.forms = forms;
  }

  /** Whether other jobs may use the samples. */
  public boolean isShared() {
    return store.isShared();
  }

  /**
   * Returns a store of samples that consist of one item each, in the same memory and counted as
   * samples.
   *
   * @param filter which files are items
   * @param keeps whether items may be admitted now
   */
  public DecodedStore ofItems(ItemFilter filter, BooleanSupplier keeps) {
    return new DecodedStore(store, filter, forms, keeps, StoreGain.silent(), statistics);
  }

  /** Returns the coordinator of the stores of all forms. */
  public KeptForms forms() {
    return forms;
  }

  /** Whether samples prepared from this file must not be cached. */
  public boolean skips(FileState file) {
    return names.skips(file);
  }

  /** Returns the bytes, read-only from 0 to their length; null if not cached. Not counted. */
  public @Nullable ByteBuffer find(ItemKey key) {
    return store.find(key);
  }

  /** Counts samples that were found and used, and their total bytes. */
  public void used(int samples, long bytes) {
    statistics.count(Outcome.HIT, samples);
    statistics.bytes(Origin.MEMORY, bytes);
  }

  /**
   * Admits a sample. Concurrent callers for the same sample wait for it, for a bounded time.
   *
   * @param sample prepares or copies the sample; called at most once, on this thread
   * @return whether this call admitted it
   * @throws IOException if {@code sample} throws it
   */
  public boolean keep(ItemKey key, int length, Loader sample) throws IOException {
    Outcome outcome = store.fetch(key, length, sample).outcome();
    statistics.made(outcome, length);
    if (outcome != Outcome.HIT) {
      statistics.count(outcome);
    }
    return outcome == Outcome.ADMITTED;
  }

  /** Counts a sample that cannot be cached. */
  public void countUncacheable() {
    statistics.count(Outcome.SPARED);
  }

  /** Whether a sample of this length would be admitted now. */
  public boolean hasRoom(long length) {
    return store.hasRoom(length);
  }

  public long room() {
    return Math.max(0, store.capacity() - store.used());
  }

  public StoreStatistics statistics() {
    return statistics;
  }

  @Override
  public void close() {
    store.close();
  }
}
