package io.coordl.reports.whatif;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Curves over one axis, and where the job is today.
 *
 * @param today absent where today lies outside the plot or is not known
 */
public record Plot(Axis x, Axis y, @Nullable Point today, List<Series> series) {
  static Plot of(Axis x, Axis y, @Nullable Point today, Series... series) {
    return new Plot(x, y, today, List.of(series));
  }
}
