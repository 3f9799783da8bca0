package io.coordl.reports.recording;

import io.coordl.reports.recording.Activity.Total;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Exact totals per name for the first names, up to a limit; the rest are summed. Confined to one
 * thread.
 */
final class NameTotals {
  private static final String UNKNOWN = "(unknown)";

  private final int maxNames;
  private final int maxShown;
  private final Map<String, Total> totals = new HashMap<>();
  private Total unnamed = new Total("", 0, 0, 0, 0, 0);

  /** Distinguishes at most {@code maxNames} names, and lists the {@code maxShown} slowest. */
  NameTotals(int maxNames, int maxShown) {
    this.maxNames = maxNames;
    this.maxShown = maxShown;
  }

  void add(@Nullable String name, long nanos, long bytes, boolean fromMemory) {
    String key = name == null ? UNKNOWN : name;
    Total one = new Total(key, 1, nanos, nanos, bytes, fromMemory ? 1 : 0);
    if (totals.size() < maxNames || totals.containsKey(key)) {
      totals.merge(key, one, Total::plus);
    } else {
      unnamed = unnamed.plus(one);
    }
  }

  Activity.Names names() {
    List<Total> slowest =
        totals.values().stream()
            .sorted(
                Comparator.comparingLong(Total::totalNanos).reversed().thenComparing(Total::name))
            .toList();
    return new Activity.Names(
        totals.size(),
        unnamed.count(),
        slowest.stream().limit(maxShown).toList(),
        slowest.stream().skip(maxShown).reduce(unnamed, Total::plus));
  }
}
