package io.coordl.reports.cluster;

import java.util.List;
import java.util.function.ToDoubleFunction;

/** Axes of tables, and interpolation between their points. */
final class Axes {
  private Axes() {}

  static boolean isRising(List<Double> axis) {
    return isRising(axis, 0);
  }

  /** Returns whether an axis rises from a first point of at least 0. */
  static boolean isRisingFromZero(List<Double> axis) {
    return isRising(axis, -Double.MIN_VALUE);
  }

  private static boolean isRising(List<Double> axis, double above) {
    double last = above;
    for (Double point : axis) {
      if (point == null || !(point > last) || Double.isInfinite(point)) {
        return false;
      }
      last = point;
    }
    return !axis.isEmpty();
  }

  /**
   * Returns the position of {@code value} on an axis: its index plus the fraction to the next
   * point.
   */
  static double position(List<Double> axis, double value) {
    if (value <= axis.get(0)) {
      return 0;
    }
    for (int i = 1; i < axis.size(); i++) {
      if (value < axis.get(i)) {
        return i - 1 + (value - axis.get(i - 1)) / (axis.get(i) - axis.get(i - 1));
      }
    }
    return axis.size() - 1;
  }

  /** Interpolates linearly between two neighbours. */
  static <T> double along(List<T> values, double position, ToDoubleFunction<T> value) {
    int i = (int) position;
    double left = value.applyAsDouble(values.get(i));
    return position == i
        ? left
        : left + (position - i) * (value.applyAsDouble(values.get(i + 1)) - left);
  }
}
