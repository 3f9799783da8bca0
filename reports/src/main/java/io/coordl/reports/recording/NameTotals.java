package io.coordl.reports.recording;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Exact totals per name for as many names as memory is set aside for; the rest is counted together,
 * and said to be. Confined to one thread.
 */
final class NameTotals {
  private static final String UNKNOWN = "(unknown)";

  /** A total while it grows. */
  private static final class Growing {
    private long count;
    private long nanos;
    private long longest;
    private long bytes;
    private long memory;

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

    Activity.Total total(String name) {
      return new Activity.Total(name, count, nanos, longest, bytes, memory);
    }
  }

  private final int most;
  private final int shown;
  private final Map<String, Growing> totals = new HashMap<>();
  private final Growing unnamed = new Growing();

  /**
   * @param most names that are told apart
   * @param shown names that {@link #names} lists
   */
  NameTotals(int most, int shown) {
    this.most = most;
    this.shown = shown;
  }

  void add(@Nullable String name, long nanos, long bytes, long memory) {
    String key = name == null ? UNKNOWN : name;
    Growing total = totals.get(key);
    if (total == null) {
      if (totals.size() >= most) {
        total = unnamed;
      } else {
        total = new Growing();
        totals.put(key, total);
      }
    }
    total.add(nanos, bytes, memory);
  }

  Activity.Names names() {
    Comparator<Map.Entry<String, Growing>> bySpeed =
        Comparator.comparingLong((Map.Entry<String, Growing> entry) -> entry.getValue().nanos)
            .thenComparing(Map.Entry.comparingByKey(Comparator.reverseOrder()));
    // The quickest of the slowest comes first, to be pushed out by a slower one.
    PriorityQueue<Map.Entry<String, Growing>> best = new PriorityQueue<>(shown + 1, bySpeed);
    for (Map.Entry<String, Growing> entry : totals.entrySet()) {
      best.add(entry);
      if (best.size() > shown) {
        best.remove();
      }
    }
    List<Map.Entry<String, Growing>> slowest = best.stream().sorted(bySpeed.reversed()).toList();
    Set<String> listed = slowest.stream().map(Map.Entry::getKey).collect(Collectors.toSet());
    Growing others = new Growing();
    others.add(unnamed);
    totals.forEach(
        (name, total) -> {
          if (!listed.contains(name)) {
            others.add(total);
          }
        });
    return new Activity.Names(
        totals.size(),
        slowest.stream().map(entry -> entry.getValue().total(entry.getKey())).toList(),
        others.total(""),
        unnamed.total(""));
  }
}
