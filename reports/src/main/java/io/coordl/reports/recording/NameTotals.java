package io.coordl.reports.recording;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Exact totals per name for as many names as memory is set aside for; the rest is counted together,
 * and said to be. Confined to one thread.
 */
final class NameTotals {
  private static final String UNKNOWN = "(unknown)";

  private static final class Growing {
    private final String name;
    private long count;
    private long nanos;
    private long longest;
    private long bytes;
    private long memory;

    Growing(String name) {
      this.name = name;
    }

    void add(long moreNanos, long moreBytes, boolean fromMemory) {
      count++;
      nanos += moreNanos;
      longest = Math.max(longest, moreNanos);
      bytes += moreBytes;
      memory += fromMemory ? 1 : 0;
    }

    void add(Growing more) {
      count += more.count;
      nanos += more.nanos;
      longest = Math.max(longest, more.longest);
      bytes += more.bytes;
      memory += more.memory;
    }

    Activity.Total total() {
      return new Activity.Total(name, count, nanos, longest, bytes, memory);
    }
  }

  private final int most;
  private final int shown;
  private final Map<String, Growing> totals = new HashMap<>();
  private final Growing unnamed = new Growing("");

  /**
   * @param most names that are told apart
   * @param shown names that {@link #names} lists
   */
  NameTotals(int most, int shown) {
    this.most = most;
    this.shown = shown;
  }

  void add(@Nullable String name, long nanos, long bytes, boolean fromMemory) {
    String known = name == null ? UNKNOWN : name;
    Growing total = totals.get(known);
    if (total == null) {
      total = totals.size() < most ? new Growing(known) : unnamed;
      if (total != unnamed) {
        totals.put(known, total);
      }
    }
    total.add(nanos, bytes, fromMemory);
  }

  Activity.Names names() {
    Comparator<Growing> bySpeed =
        Comparator.comparingLong((Growing total) -> total.nanos)
            .thenComparing(total -> total.name, Comparator.reverseOrder());
    // The quickest of the slowest comes first, to be pushed out by a slower one.
    PriorityQueue<Growing> best = new PriorityQueue<>(shown + 1, bySpeed);
    Growing others = new Growing("");
    others.add(unnamed);
    for (Growing total : totals.values()) {
      best.add(total);
      if (best.size() > shown) {
        others.add(best.remove());
      }
    }
    return new Activity.Names(
        totals.size(),
        unnamed.count,
        best.stream().sorted(bySpeed.reversed()).map(Growing::total).toList(),
        others.total());
  }
}
