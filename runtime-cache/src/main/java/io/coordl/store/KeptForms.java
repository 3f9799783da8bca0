package io.coordl.store;

import io.coordl.items.ItemFile;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Decides which form of an item is kept if there are several.
 *
 * <h2>Prepared samples</h2>
 *
 * <p>If a thread keeps a sample prepared, the sample's raw and decoded items need no memory of
 * their own: their stores serve the thread but keep nothing for it. Until it is decided which form
 * of a data set is kept, the stores keep the items and report here how much memory they take and
 * how much time they save.
 *
 * <h2>Raw and decoded items in one arena</h2>
 *
 * <p>A byte of a raw item saves {@link Rates#readNanos} divided by its length; a byte of a decoded
 * item saves reading and decoding, divided by its length. If memory is short, it should go to the
 * form that saves more per byte; the other form of the same item is then worth little or nothing.
 * But whether memory is short is unknown until every item has been read once, and no eviction can
 * correct a mistake. Therefore:
 *
 * <ul>
 *   <li>The first quarter of the budget admits both forms as they come, and measures them. A data
 *       set that fits in it needs no choice; a larger one loses at most that quarter.
 *   <li>Then the choice is made from the last {@value #SAMPLES} items, once, for all jobs of the
 *       arena: a later change could not give memory back.
 *   <li>From then on, the form that comes first is admitted when an item is met, the other one only
 *       when the item is asked for again. By then an epoch is usually over, so every item has been
 *       read and the free room is not needed for the first form. With decoded items first, that
 *       room goes to the raw bytes of items that are asked for in decoded form but not kept in it.
 * </ul>
 *
 * <p>The choice does not affect reads that are not for an item's decoded form. If nothing can be
 * measured, because all decoded items were already in memory in raw form, both forms are admitted
 * as they come. Safe for concurrent use; never waits.
 */
@SuppressWarnings("ThreadLocalUsage") // One instance per JVM.
public final class KeptForms {
  static final int SAMPLES = 64;

  /** The part of the budget that is used before the choice. */
  private static final int MEASURED_PART = 4;

  /** 1 MiB; with a million items, one in 16 is mistaken for one already seen. */
  private static final int SEEN_BITS = 23;

  private final ThreadLocal<@Nullable Preparing> preparing = new ThreadLocal<>();
  private final ThreadLocal<@Nullable DecodedItem> asked = new ThreadLocal<>();
  private final ThreadLocal<@Nullable Boolean> prefetching = new ThreadLocal<>();

  /** The arena that raw and decoded items share; null if they share none. */
  private final @Nullable ArenaStore arena;

  private final AtomicLongArray seen;
  private final Rates[] samples = new Rates[SAMPLES];
  private long sampled;

  /** Each form has memory of its own. */
  public KeptForms() {
    this(null);
  }

  /** Raw and decoded items share {@code arena}, unless it is null. */
  public KeptForms(@Nullable ArenaStore arena) {
    this.arena = arena;
    this.seen = new AtomicLongArray(arena == null ? 0 : 1 << (SEEN_BITS - 6));
  }

  // ---- prepared samples

  /** A part of a sample, while a thread prepares it. */
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

    /** Memory and time of the items read for it; zeros for a form in which nothing is kept. */
    public Rates items() {
      return new Rates(rawBytes, decodedBytes, readNanos, decodeNanos);
    }
  }

  /**
   * Starts preparing on this thread, for a sample that is kept or not; the caller must call {@link
   * #end}.
   */
  public Preparing begin(boolean isKept) {
    Preparing now = new Preparing(isKept, preparing.get());
    preparing.set(now);
    return now;
  }

  public void end(Preparing begun) {
    preparing.set(begun.outer);
  }

  /** Whether this thread's items are kept as a part of a sample. */
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

  /** The measured rates; null until the choice is made. */
  public @Nullable Rates rates() {
    return arena == null ? null : arena.rates();
  }

  /** From now on, this thread asks for items before the program does. */
  void prefetchesHere() {
    prefetching.set(true);
  }

  /** This thread is about to decode the item, unless its decoded form is kept. */
  void ask(DecodedItem item) {
    if (arena == null) {
      return;
    }
    int bit = (int) item.file.key().high() >>> (Integer.SIZE - SEEN_BITS);
    long mask = 1L << bit;
    long before =
        prefetching.get() != null
            ? seen.get(bit >>> 6)
            : seen.getAndAccumulate(bit >>> 6, mask, (was, set) -> was | set);
    item.again = (before & mask) != 0;
    asked.set(item);
  }

  /** The item this thread asked for last, if it is that of {@code file}. */
  @Nullable DecodedItem asker(ItemFile file) {
    DecodedItem item = arena == null ? null : asked.get();
    return item != null && item.file.equals(file) ? item : null;
  }

  /**
   * Whether raw bytes read for {@code asker} may be kept; null if it is not known for which item.
   */
  boolean admitsRaw(@Nullable DecodedItem asker) {
    if (keepsSample()) {
      return false;
    }
    Rates chosen = asker == null ? null : rates();
    return asker == null || chosen == null || chosen.rawFirst() || asker.again;
  }

  /** Whether decoded bytes made for {@code asker} may be kept. */
  boolean admitsDecoded(DecodedItem asker) {
    if (keepsSample()) {
      return false;
    }
    Rates chosen = rates();
    return chosen == null || !chosen.rawFirst() || asker.again;
  }

  /** Records the costs of a decoded item of {@code length} bytes; may trigger the choice. */
  void decoded(DecodedItem item, long length) {
    ItemFile file = item.file;
    long read = item.readNanos.get();
    long made = item.madeNanos.get();
    Preparing now = preparing.get();
    if (now != null) {
      now.decodedBytes += length;
      now.decodeNanos += made - read;
    }
    // The read time of files too large to be read at once is unknown. It does not matter, because
    // their decoded form is smaller.
    if (arena != null
        && arena.rates() == null
        && made > read
        && (read > 0 || file.size() > length)) {
      measured(arena, new Rates(file.size(), length, read, made - read));
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
