package io.coordl.store;

import io.coordl.items.ItemFile;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Decides which form of an item is cached if there are several.
 *
 * <h2>Prepared samples</h2>
 *
 * <p>If a prepared sample is cached, its raw and decoded items need not be cached: while a thread
 * prepares such a sample, the stores serve items but admit none. Until it is decided which form of
 * a data set is cached, the stores admit the items and report here how much memory they take and
 * how much time they save.
 *
 * <h2>Raw and decoded items in one arena</h2>
 *
 * <p>A byte of a raw item saves {@link Rates#readNanos} divided by the item's length; a byte of a
 * decoded item saves the time to read and decode it, divided by its length. If memory is short, it
 * should go to the form that saves more per byte; the other form of the same item is then worth
 * little or nothing. But whether memory is short is unknown until every item has been read once,
 * and no eviction can correct a mistake. Therefore:
 *
 * <ul>
 *   <li>Until the first quarter of the budget is used, both forms are admitted as they come, and
 *       measured. A data set that fits in it needs no choice; a larger one loses at most that
 *       quarter.
 *   <li>Then the choice is made from the last {@value #SAMPLES} items, once, for all jobs of the
 *       arena: a later change could not give memory back.
 *   <li>From then on, the preferred form is admitted when an item is first requested, the other
 *       form only when the item is requested again. By then an epoch is usually over, so every item
 *       has been read and the preferred form does not need the free room. If decoded items are
 *       preferred, that room goes to the raw bytes of items that are requested in decoded form but
 *       not cached in it.
 * </ul>
 *
 * <p>The choice affects only reads made to decode an item. If nothing can be measured, because all
 * decoded items were already in memory in raw form, both forms are admitted as they come. Safe for
 * concurrent use; never waits.
 */
@SuppressWarnings("ThreadLocalUsage") // One instance per JVM.
public final class KeptForms {
  static final int SAMPLES = 64;

  /** The choice is made once this part of the budget is used: 1 / MEASURED_PART. */
  private static final int MEASURED_PART = 4;

  /** 1 MiB; with a million items, one in 16 is mistaken for one already seen. */
  private static final int SEEN_BITS = 23;

  private final ThreadLocal<@Nullable Preparing> preparing = new ThreadLocal<>();
  private final ThreadLocal<@Nullable DecodedItem> requested = new ThreadLocal<>();
  private final ThreadLocal<@Nullable Boolean> prefetching = new ThreadLocal<>();

  /** The arena shared by raw and decoded items; null if there is none. */
  private final @Nullable ArenaStore arena;

  private final AtomicLongArray seen;
  private final Rates[] samples = new Rates[SAMPLES];
  private long sampled;

  /** Creates an instance for forms with separate memory. */
  public KeptForms() {
    this(null);
  }

  /** Creates an instance for raw and decoded items that share {@code arena}, unless it is null. */
  public KeptForms(@Nullable ArenaStore arena) {
    this.arena = arena;
    this.seen = new AtomicLongArray(arena == null ? 0 : 1 << (SEEN_BITS - 6));
  }

  // ---- prepared samples

  /** Totals of the items that a thread reads while it prepares one part of a sample. */
  public static final class Preparing {
    private final boolean isKept;
    private final @Nullable Preparing outer;
    private long rawBytes;
    private long decodedBytes;
    private long readNanos;
    private long decodeNanos;

    private Preparing(boolean isKept, @Nullable Preparing outer) {
      this.isKept = isKept;
      this.outer = outer;
    }

    /** Returns the total size and time of the items; zeros for a form that is not cached. */
    public Rates items() {
      return new Rates(rawBytes, decodedBytes, readNanos, decodeNanos);
    }
  }

  /**
   * Starts preparing a sample on this thread; the caller must call {@link #end}.
   *
   * @param isKept whether the prepared sample will be cached
   */
  public Preparing begin(boolean isKept) {
    Preparing now = new Preparing(isKept, preparing.get());
    preparing.set(now);
    return now;
  }

  public void end(Preparing begun) {
    preparing.set(begun.outer);
  }

  /** Whether the sample that this thread prepares will be cached. */
  boolean keepsSample() {
    Preparing now = preparing.get();
    return now != null && now.isKept;
  }

  /** Records that this thread has read an item of {@code bytes} bytes from storage. */
  void raw(long bytes, long readNanos) {
    Preparing now = preparing.get();
    if (now != null) {
      now.rawBytes += bytes;
      now.readNanos += readNanos;
    }
  }

  // ---- raw and decoded items

  /** Returns the measured rates; null until the choice is made. */
  public @Nullable Rates rates() {
    return arena == null ? null : arena.rates();
  }

  /** Marks this thread as one that requests items before the program does. */
  void prefetchesHere() {
    prefetching.set(true);
  }

  /** Called when this thread requests the item in decoded form. */
  void request(DecodedItem item) {
    if (arena == null) {
      return;
    }
    int bit = (int) item.file.key().high() >>> (Integer.SIZE - SEEN_BITS);
    long mask = 1L << bit;
    long before =
        prefetching.get() != null
            ? seen.get(bit >>> 6)
            : seen.getAndAccumulate(bit >>> 6, mask, (was, set) -> was | set);
    item.wasRequestedBefore = (before & mask) != 0;
    requested.set(item);
  }

  /** Returns the item that this thread requested last if its file is {@code file}; else null. */
  @Nullable DecodedItem requester(ItemFile file) {
    DecodedItem item = arena == null ? null : requested.get();
    return item != null && item.file.equals(file) ? item : null;
  }

  /** Whether raw bytes read for {@code requester}, null if unknown, may be admitted. */
  boolean admitsRaw(@Nullable DecodedItem requester) {
    if (keepsSample()) {
      return false;
    }
    Rates choice = requester == null ? null : rates();
    return requester == null || choice == null || choice.rawFirst() || requester.wasRequestedBefore;
  }

  /** Whether decoded bytes of {@code requester} may be admitted. */
  boolean admitsDecoded(DecodedItem requester) {
    if (keepsSample()) {
      return false;
    }
    Rates choice = rates();
    return choice == null || !choice.rawFirst() || requester.wasRequestedBefore;
  }

  /** Records the costs of a decoded item of {@code length} bytes; may trigger the choice. */
  void decoded(DecodedItem item, long length) {
    ItemFile file = item.file;
    long read = item.readNanos.get();
    long producing = item.producingNanos.get();
    Preparing now = preparing.get();
    if (now != null) {
      now.decodedBytes += length;
      now.decodeNanos += producing - read;
    }
    // The read time of files too large to be read whole is unknown. It does not matter if their
    // decoded form is smaller.
    if (arena != null
        && arena.rates() == null
        && producing > read
        && (read > 0 || file.size() > length)) {
      measured(arena, new Rates(file.size(), length, read, producing - read));
    }
  }

  private synchronized void measured(ArenaStore shared, Rates item) {
    samples[(int) (sampled++ % SAMPLES)] = item;
    if (shared.used() >= shared.capacity() / MEASURED_PART) {
      int count = (int) Math.min(sampled, SAMPLES);
      shared.choose(Rates.sum(Arrays.asList(samples).subList(0, count)).by(count));
    }
  }
}
