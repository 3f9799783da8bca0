package io.coordl.attribution;

import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * Which record belongs to which batch object, from its preparation to the moment the training
 * thread takes it. By identity (a batch's {@code equals} compares arrays) and weak (a batch must
 * die when the program drops it); bounded by a ring, since prefetch depths are small. Safe for
 * concurrent use.
 */
final class RecentBatches {
  private static final int CAPACITY = 256;

  private record Entry(WeakReference<Object> batch, BatchRecord record) {}

  private final @Nullable Entry[] ring = new @Nullable Entry[CAPACITY];
  private int next;

  /** How many were not taken: where the training thread prepares all by itself, none is there. */
  private int left;

  synchronized void put(Object batch, BatchRecord record) {
    left += ring[next] == null ? 1 : 0;
    ring[next] = new Entry(new WeakReference<>(batch), record);
    next = (next + 1) % CAPACITY;
  }

  synchronized @Nullable BatchRecord take(Object batch) {
    int unseen = left;
    for (int i = 1; i <= CAPACITY && unseen > 0; i++) {
      int at = Math.floorMod(next - i, CAPACITY);
      Entry entry = ring[at];
      if (entry != null) {
        unseen--;
        if (entry.batch().refersTo(batch)) {
          ring[at] = null;
          left--;
          return entry.record();
        }
      }
    }
    return null;
  }
}
