package io.coordl.cache;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Which form of an item is kept where there are several.
 *
 * <h2>Prepared samples</h2>
 *
 * <p>What a thread reads and decodes for a sample that it keeps prepared needs no memory in another
 * form: the stores of raw and decoded items serve it, and keep nothing of it. While it is yet to be
 * chosen what is kept of a data set, they keep it and tell here what that takes and saves.
 *
 * <h2>Raw and decoded items in one arena</h2>
 *
 * <p>A byte of raw items saves the {@link Rates#readNanos} they take to read, by their bytes; one
 * of decoded items saves reading and decoding, by theirs. Memory that is short goes best to the
 * form whose bytes save more, and the other form of the same item is then worth little or nothing.
 * But whether memory is short, nobody knows before all items have been met, and nothing is ever
 * evicted to make up for a mistake. Therefore:
 *
 * <ul>
 *   <li>A quarter of the budget is given to both forms as they come, and measured. A data set so
 *       small needs no choice, and one that is larger loses at most that quarter by it.
 *   <li>Then the choice is made from the last {@value #SAMPLES} items, once, for all jobs of the
 *       arena: a change of mind could not give memory back.
 *   <li>From then on, the form that comes first is admitted when an item is met, the other one only
 *       when the item is asked for again. By then, as a rule, a pass is over: all have been met,
 *       and the room still left is nobody else's. With decoded items first, it is taken by the raw
 *       bytes of those that are asked for in decoded form but never kept in it.
 * </ul>
 *
 * <p>Reads that are not for an item's decoded form are not asked about. Where nothing can be
 * measured, because all that is decoded was in memory in raw form before, both forms are admitted
 * as they come. Safe for concurrent use, never waits.
 */
@SuppressWarnings("ThreadLocalUsage") // There is one of these in a JVM.
public final class KeptForms {
  static final int SAMPLES = 64;

  /** The part of the budget that is used before there is a choice. */
  private static final int MEASURED_PART = 4;

  /** 1 MiB; of a million items one in 16 is mistaken for one that was met before. */
  private static final int SEEN_BITS = 23;

  private final ThreadLocal<@Nullable Preparing> preparing = new ThreadLocal<>();
  private final ThreadLocal<@Nullable DecodedItem> asked = new ThreadLocal<>();
  private final ThreadLocal<@Nullable Boolean> prefetching = new ThreadLocal<>();

  /** Of raw and decoded items; null if there is none that both share. */
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

    /** What the items read for it take, and save; zeros of a form in which nothing is kept. */
    public Rates items() {
      return new Rates(rawBytes, decodedBytes, readNanos, decodeNanos);
    }
  }

  /** This thread begins to prepare something that is kept or not; {@link #end} is due. */
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

  /** This thread has read an item of so many bytes from storage. */
  void raw(long bytes, long readNanos) {
    Preparing now = preparing.get();
    if (now != null) {
      now.rawBytes += bytes;
      now.readNanos += readNanos;
    }
  }

  // ---- raw and decoded items

  /** What was measured; null while there is no choice yet. */
  public @Nullable Rates rates() {
    return arena == null ? null : arena.rates();
  }

  /** What this thread asks for, from now on, the program has yet to meet. */
  void prefetchesHere() {
    prefetching.set(true);
  }

  /** This thread is about to decode the item, unless that is kept. */
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

  /** Whether raw bytes may be kept that are read for {@code asker}, null if for nobody known. */
  boolean admitsRaw(@Nullable DecodedItem asker) {
    if (keepsSample()) {
      return false;
    }
    Rates chosen = asker == null ? null : rates();
    return asker == null || chosen == null || chosen.rawFirst() || asker.again;
  }

  /** Whether decoded bytes may be kept that were made for {@code asker}. */
  boolean admitsDecoded(DecodedItem asker) {
    if (keepsSample()) {
      return false;
    }
    Rates chosen = rates();
    return chosen == null || !chosen.rawFirst() || asker.again;
  }

  /** Takes into account what a decoded item of {@code length} bytes took; may be what decides. */
  void decoded(DecodedItem item, long length) {
    ItemFile file = item.file;
    long read = item.readNanos.get();
    long made = item.madeNanos.get();
    Preparing now = preparing.get();
    if (now != null) {
      now.decodedBytes += length;
      now.decodeNanos += made - read;
    }
    // Of files too large to be read at once the time is not known, and does not matter: their
    // decoded form is smaller.
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
