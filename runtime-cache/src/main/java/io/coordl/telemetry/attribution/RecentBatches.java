package io.coordl.telemetry.attribution;

import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * Maps each batch to its record, from its preparation until the training thread takes it. Batches
 * are compared by identity ({@code equals} would compare arrays) and referenced weakly (a batch
 * must become garbage when the program drops it). A small ring bounds their number, which suffices
 * because prefetch depths are small. Safe for concurrent use.
 */
final class RecentBatches {
  private static final int CAPACITY = 256;

  private record Entry(WeakReference<Object> batch, BatchRecord record) {}

  private final @Nullable Entry[] ring = new @Nullable Entry[CAPACITY];
  private int next;

  /** Entries not yet taken; few if the training thread prepares all batches itself. */
  private int untaken;

  synchronized void put(Object batch, BatchRecord record) {
    untaken += ring[next] == null ? 1 : 0;
    ring[next] = new Entry(new WeakReference<>(batch), record);
    next = (next + 1) % CAPACITY;
  }

  synchronized @Nullable BatchRecord take(Object batch) {
    int unchecked = untaken;
    for (int i = 1; i <= CAPACITY && unchecked > 0; i++) {
      int at = Math.floorMod(next - i, CAPACITY);
      Entry entry = ring[at];
      if (entry != null) {
        unchecked--;
        if (entry.batch().refersTo(batch)) {
          ring[at] = null;
          untaken--;
          return entry.record();
        }
      }
    }
    return null;
  }
}
