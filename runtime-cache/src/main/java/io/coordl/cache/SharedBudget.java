package io.coordl.cache;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Raw and decoded items in one arena: which of an item's two forms its memory goes to.
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
public final class SharedBudget {
  static final int SAMPLES = 64;

  /** The part of the budget that is used before there is a choice. */
  private static final int MEASURED_PART = 4;

  /** 1 MiB; of a million items one in 16 is mistaken for one that was met before. */
  private static final int SEEN_BITS = 23;

  private final ArenaStore arena;
  private final AtomicLongArray seen = new AtomicLongArray(1 << (SEEN_BITS - 6));

  @SuppressWarnings("ThreadLocalUsage") // There is one budget in a JVM.
  private final ThreadLocal<@Nullable DecodedItem> asked = new ThreadLocal<>();

  @SuppressWarnings("ThreadLocalUsage") // As above.
  private final ThreadLocal<@Nullable Boolean> ahead = new ThreadLocal<>();

  private final Rates[] samples = new Rates[SAMPLES];
  private long sampled;

  public SharedBudget(ArenaStore arena) {
    this.arena = arena;
  }

  /** What was measured; null while there is no choice yet. */
  public @Nullable Rates rates() {
    return arena.rates();
  }

  /** What this thread asks for, from now on, the program has yet to meet. */
  void asksAhead() {
    ahead.set(true);
  }

  /** This thread is about to decode the item, unless that is kept. */
  void ask(DecodedItem item) {
    int bit = (int) item.file.key().high() >>> (Integer.SIZE - SEEN_BITS);
    long mask = 1L << bit;
    long before =
        ahead.get() != null
            ? seen.get(bit >>> 6)
            : seen.getAndAccumulate(bit >>> 6, mask, (was, set) -> was | set);
    item.again = (before & mask) != 0;
    asked.set(item);
  }

  /** The item this thread asked for last, if it is that of {@code file}. */
  @Nullable DecodedItem asker(ItemFile file) {
    DecodedItem item = asked.get();
    return item != null && item.file.equals(file) ? item : null;
  }

  /** Whether raw bytes may be kept that are read for {@code asker}, null if for nobody known. */
  boolean admitsRaw(@Nullable DecodedItem asker) {
    Rates chosen = rates();
    return asker == null || chosen == null || chosen.rawFirst() || asker.again;
  }

  /** Whether decoded bytes may be kept that were made for {@code asker}. */
  boolean admitsDecoded(DecodedItem asker) {
    Rates chosen = rates();
    return chosen == null || !chosen.rawFirst() || asker.again;
  }

  /** Takes into account what a decoded item of {@code length} bytes took; may be what decides. */
  void measure(DecodedItem item, long length) {
    ItemFile file = item.file;
    long read = item.readNanos.get();
    long made = item.madeNanos.get();
    // Of files too large to be read at once the time is not known, and does not matter: their
    // decoded form is smaller.
    if (rates() == null && made > read && (read > 0 || file.size() > length)) {
      measured(new Rates(file.size(), length, read, made - read));
    }
  }

  private synchronized void measured(Rates item) {
    samples[(int) (sampled++ % SAMPLES)] = item;
    if (arena.used() >= arena.capacity() / MEASURED_PART) {
      int count = (int) Math.min(sampled, SAMPLES);
      arena.choose(Rates.sum(Arrays.asList(samples).subList(0, count)).by(count));
    }
  }
}
