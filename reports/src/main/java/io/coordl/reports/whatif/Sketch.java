package io.coordl.reports.whatif;

import io.coordl.advice.Text;
import io.coordl.advice.Text.Bytes;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.whatif.Answer.Axis;
import io.coordl.reports.whatif.Answer.Point;
import io.coordl.reports.whatif.Answer.Series;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;

/** What the questions draw and say alike. */
final class Sketch {
  /** Parts of the data set that a cache holds. */
  static final double[] SHARES = steps(0, 1, 0.05);

  static final Axis SPEED = new Axis("speed", "samples/s");
  static final Axis SHARE = new Axis("cache", "share");

  private static final double GIBIBYTE = 1L << 30;

  private Sketch() {}

  /** From one to the other, both included. */
  static double[] steps(double from, double to, double step) {
    int count = (int) Math.round((to - from) / step);
    double[] steps = new double[count + 1];
    for (int i = 0; i <= count; i++) {
      steps[i] = from + (to - from) * i / count;
    }
    return steps;
  }

  static Series series(String name, double[] at, DoubleFunction<Measure> y) {
    List<Point> points = new ArrayList<>();
    Arrays.stream(at).forEach(x -> points.add(new Point(x, y.apply(x))));
    return new Series(name, List.copyOf(points));
  }

  static String speed(Measure measure) {
    return number(measure) + " samples/s";
  }

  /** A factor such as 1.32. */
  static String times(Measure measure) {
    return Text.format("%.2f +- %.2f times", measure.value(), measure.error());
  }

  static String percent(double share) {
    return Text.format("%.0f %%", 100 * share);
  }

  static String tenths(double share) {
    return Text.format("%.1f %%", 100 * share);
  }

  static String percent(Measure share) {
    return Text.format("%.0f +- %.0f %%", 100 * share.value(), 100 * share.error());
  }

  /** With as many digits as mean something. */
  static String number(Measure measure) {
    String digits = measure.value() >= 100 ? "%,.0f" : measure.value() >= 10 ? "%,.1f" : "%,.2f";
    return Text.format(digits + " +- " + digits, measure.value(), measure.error());
  }

  static String bytes(double bytes) {
    return new Bytes(Math.round(bytes)).toString();
  }

  static String rate(Measure bytesPerSecond) {
    return bytes(bytesPerSecond.value()) + "/s +- " + bytes(bytesPerSecond.error()) + "/s";
  }

  /** A budget for that many bytes as the agent takes it: a tenth more, for the index. */
  static String budget(double bytes) {
    double wanted = bytes * 1.1;
    return wanted < GIBIBYTE
        ? Math.max(1, (long) Math.ceil(wanted / (1L << 20))) + "m"
        : (long) Math.ceil(wanted / GIBIBYTE) + "g";
  }

  static boolean uses(Pipeline pipeline, String framework) {
    return pipeline.frameworks().toLowerCase(Locale.ROOT).contains(framework);
  }

  /** A gain that its error does not explain, and that is worth a change. */
  static boolean worthIt(Measure gain) {
    return gain.value() - gain.error() > 1 && gain.value() >= 1.05;
  }
}
