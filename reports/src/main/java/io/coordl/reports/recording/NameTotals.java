package io.coordl.reports.recording;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Exact totals per name for as many names as memory is set aside for; the rest is counted together,
 * and said to be. Confined to one thread.
 */
final class NameTotals {
  private static final RecordedText UNKNOWN = RecordedText.of("(unknown)");

  /** A total while it grows. */
  private static final class Growing {
    private final byte[] name;
    private long count;
    private long nanos;
    private long longest;
    private long bytes;
    private long memory;

    Growing(byte[] name) {
      this.name = name;
    }

    void add(long moreNanos, long moreBytes, long moreMemory) {
      count++;
      nanos += moreNanos;
      longest = Math.max(longest, moreNanos);
      bytes += moreBytes;
      memory += moreMemory;
    }

    void add(Growing more) {
      count += more.count;
      nanos += more.nanos;
      longest = Math.max(longest, more.longest);
      bytes += more.bytes;
      memory += more.memory;
    }

    Activity.Total total() {
      return new Activity.Total(
          new String(name, StandardCharsets.UTF_8), count, nanos, longest, bytes, memory);
    }
  }

  private final int most;
  private final int shown;

  /**
   * Those of a name at its hash or at the next free place after it, which has 0 for a hash. The
   * hashes lie beside them, as most of the time goes into waiting for memory. At most half of the
   * places are taken.
   */
  private @Nullable Growing[] totals = new @Nullable Growing[16];

  private int[] hashes = new int[16];
  private int known;

  /**
   * What is counted together, from {@link #APART} on: were it an object like the others, those that
   * another thread changes could lie in the same cache line, which slows both down.
   */
  private final long[] unnamed = new long[3 * APART];

  private static final int APART = 8;

  /**
   * @param most names that are told apart
   * @param shown names that {@link #names} lists
   */
  NameTotals(int most, int shown) {
    this.most = most;
    this.shown = shown;
  }

  void add(@Nullable RecordedText name, long nanos, long bytes, long memory) {
    Growing total = find(name == null ? UNKNOWN : name);
    if (total != null) {
      total.add(nanos, bytes, memory);
      return;
    }
    unnamed[APART]++;
    unnamed[APART + 1] += nanos;
    unnamed[APART + 2] = Math.max(unnamed[APART + 2], nanos);
    unnamed[APART + 3] += bytes;
    unnamed[APART + 4] += memory;
  }

  /** Null if it is not told apart. */
  private @Nullable Growing find(RecordedText name) {
    int hash = Math.max(1, name.hash() & Integer.MAX_VALUE);
    int at = hash & totals.length - 1;
    while (hashes[at] != 0) {
      if (hashes[at] == hash) {
        Growing total = totals[at];
        if (total != null && name.is(total.name)) {
          return total;
        }
      }
      at = at + 1 & totals.length - 1;
    }
    if (known >= most) {
      return null;
    }
    Growing total = new Growing(name.copy());
    totals[at] = total;
    hashes[at] = hash;
    known++;
    if (known > totals.length / 2) {
      grow();
    }
    return total;
  }

  private void grow() {
    @Nullable Growing[] before = totals;
    int[] hashesBefore = hashes;
    totals = new @Nullable Growing[2 * before.length];
    hashes = new int[totals.length];
    for (int i = 0; i < before.length; i++) {
      if (before[i] != null) {
        int at = hashesBefore[i] & totals.length - 1;
        while (totals[at] != null) {
          at = at + 1 & totals.length - 1;
        }
        totals[at] = before[i];
        hashes[at] = hashesBefore[i];
      }
    }
  }

  private Growing together() {
    Growing together = new Growing(new byte[0]);
    together.count = unnamed[APART];
    together.nanos = unnamed[APART + 1];
    together.longest = unnamed[APART + 2];
    together.bytes = unnamed[APART + 3];
    together.memory = unnamed[APART + 4];
    return together;
  }

  Activity.Names names() {
    Comparator<Growing> bySpeed =
        Comparator.comparingLong((Growing total) -> total.nanos)
            .thenComparing((one, other) -> Arrays.compareUnsigned(other.name, one.name));
    // The quickest of the slowest comes first, to be pushed out by a slower one.
    PriorityQueue<Growing> best = new PriorityQueue<>(shown + 1, bySpeed);
    Growing others = new Growing(new byte[0]);
    Growing together = together();
    others.add(together);
    for (Growing total : totals) {
      if (total != null) {
        best.add(total);
        if (best.size() > shown) {
          others.add(best.remove());
        }
      }
    }
    return new Activity.Names(
        known,
        best.stream().sorted(bySpeed.reversed()).map(Growing::total).toList(),
        others.total(),
        together.total());
  }
}
