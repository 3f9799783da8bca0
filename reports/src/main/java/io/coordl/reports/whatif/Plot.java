package io.coordl.reports.whatif;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Curves over one axis, and the job's point today.
 *
 * @param today absent if it lies outside the plot or is unknown
 */
public record Plot(Axis x, Axis y, @Nullable Point today, List<Series> series) {
  static Plot of(Axis x, Axis y, @Nullable Point today, Series... series) {
    return new Plot(x, y, today, List.of(series));
  }
}
