package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.stream.IntStream;

/** A curve of a {@link Plot}. */
public record Series(String name, List<Point> points) {
  static final double[] SHARES = steps(0, 1, 0.05);

  static Series of(String name, double[] at, DoubleFunction<Measure> y) {
    return new Series(name, Arrays.stream(at).mapToObj(x -> new Point(x, y.apply(x))).toList());
  }

  /** Returns values from {@code from} to {@code to}, both inclusive. */
  static double[] steps(double from, double to, double step) {
    int count = (int) Math.round((to - from) / step);
    return IntStream.rangeClosed(0, count)
        .mapToDouble(i -> from + (to - from) * i / count)
        .toArray();
  }
}
