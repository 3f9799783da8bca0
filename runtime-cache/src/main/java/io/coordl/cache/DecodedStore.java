package io.coordl.cache;

import io.coordl.bridge.Origin;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Items in decoded form (pixels before any random transform), in an arena of their own or beside
 * the raw items: admitted until it is full, never evicted, shared by all jobs of the group if the
 * arena is. What is kept is found by the file (path, size, modification time) and the {@link
 * DecodedForm}, so that jobs which decode alike share and others do not meet.
 *
 * <p>Safe for concurrent use; never interruptible, never clears the interrupt flag.
 */
public final class DecodedStore implements Closeable {
  /** The longest decoded item that is kept: 8 MiB, an image of 1,670 x 1,670 in colour. */
  public static final int MAX_BYTES = ArenaDescriptor.MAX_ITEM_BYTES;

  private final ArenaStore store;
  private final ItemFilter filter;
  private final @Nullable SharedBudget budget;
  private final KeptForms forms;
  private final BooleanSupplier keeps;
  private final StoreCounters counters = new StoreCounters();

  /** Bytes of the shortest item that this process has made. */
  private final AtomicLong shortest = new AtomicLong(Long.MAX_VALUE);

  /** A store over {@code arena}, in which this process keeps decoded items only. */
  public DecodedStore(ArenaStore arena, ItemFilter filter) {
    this(arena, filter, null, new KeptForms(), () -> true);
  }

  /**
   * A store over {@code arena}.
   *
   * @param budget that of the arena, if this process keeps raw items there too
   * @param keeps whether items are to be kept now
   */
  public DecodedStore(
      ArenaStore arena,
      ItemFilter filter,
      @Nullable SharedBudget budget,
      KeptForms forms,
      BooleanSupplier keeps) {
    this.forms = forms;
    this.keeps = keeps;
    this.store = arena;
    this.filter = filter;
    this.budget = budget;
  }

  /**
   * The item at {@code path} as it is now; null if it is not one of the data set, is missing,
   * unreadable or not a regular file, or if none are to be kept now.
   */
  public @Nullable DecodedItem item(String path) {
    ItemFile file = keeps.getAsBoolean() ? ItemFile.of(path, filter, true) : null;
    if (file == null) {
      return null;
    }
    DecodedItem item = new DecodedItem(this, file);
    if (budget != null) {
      budget.ask(item);
    }
    return item;
  }

  public StoreStatistics statistics() {
    return counters.ofDecoded(store);
  }

  /**
   * Whether there is room for the shortest item that this process has made; once not, never again.
   * A caller that would read a file only to keep it need not.
   */
  public boolean mayKeepMore() {
    long length = shortest.get();
    return length == Long.MAX_VALUE || store.hasRoom(length);
  }

  @Nullable ByteBuffer find(ItemFile file, DecodedForm form) {
    ByteBuffer found = store.find(file.key(form.id()));
    if (found != null) {
      counters.count(Outcome.HIT);
      counters.bytes(Origin.MEMORY, found.remaining());
    }
    return found;
  }

  /** As {@link #find}, but the bytes will not be used: no hit; or they cannot be kept yet. */
  boolean holds(ItemFile file, DecodedForm form) {
    return store.isOpening() || store.find(file.key(form.id())) != null;
  }

  void put(DecodedItem item, DecodedForm form, long length, Consumer<ByteBuffer> source) {
    shortest.accumulateAndGet(length, Math::min);
    if (length > MAX_BYTES) {
      counters.bytes(Origin.STORAGE, length);
      counters.count(Outcome.FULL);
      return;
    }
    if (budget != null) {
      budget.measure(item, length);
    }
    forms.decoded(length, item.madeNanos.get() - item.readNanos.get());
    if (forms.keepsSample() || (budget != null && !budget.admitsDecoded(item))) {
      counters.bytes(Origin.STORAGE, length);
      counters.spared.increment();
      return;
    }
    ItemFile file = item.file;
    Loader copy =
        (target, offset) -> {
          source.accept(ByteBuffer.wrap(target, offset, (int) length));
          return file.unchanged();
        };
    try {
      Outcome outcome = store.fetch(file.key(form.id()), (int) length, copy).outcome();
      if (outcome == Outcome.ADMITTED) {
        store.count(ArenaDescriptor.DECODED_ITEMS, ArenaDescriptor.DECODED_BYTES, (int) length);
      }
      if (outcome != Outcome.HIT) {
        counters.bytes(Origin.STORAGE, length);
      }
      counters.count(outcome);
    } catch (IOException e) {
      throw new IllegalStateException("copying in memory does no input", e);
    }
  }

  @Override
  public void close() {
    store.close();
  }
}
