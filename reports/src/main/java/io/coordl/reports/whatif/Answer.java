package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one question.
 *
 * @param question its stable name, for programs
 * @param title the question in a few words
 * @param sentence the answer, or what is missing for one
 * @param figure the number that the sentence is about; absent if something is missing
 * @param plot what the number was read from; absent if something is missing
 * @param arguments of the agent to try, as {@code key=value}; empty if none would help
 * @param assumptions that the figure rests on
 * @param missing what was not measured, and how to get it
 */
public record Answer(
    String question,
    String title,
    String sentence,
    @Nullable Figure figure,
    @Nullable Plot plot,
    List<String> arguments,
    List<String> assumptions,
    List<Missing> missing) {

  /**
   * A number with its error.
   *
   * @param unit such as {@code samples/s}, {@code bytes/s}, {@code threads}; {@code times} is a
   *     factor, {@code share} a part from 0 to 1
   */
  public record Figure(String name, String unit, Measure measure) {}

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

  /** What an axis shows, and its unit as in {@link Figure}. */
  public record Axis(String name, String unit) {
    static final Axis SPEED = new Axis("speed", "samples/s");
    static final Axis CACHE = new Axis("cache", "share");
    static final Axis WORKERS = new Axis("workers", "threads");
    static final Axis HOSTS = new Axis("hosts", "hosts");
  }

  public record Series(String name, List<Point> points) {
    static final double[] SHARES = steps(0, 1, 0.05);

    static Series of(String name, double[] at, DoubleFunction<Measure> y) {
      return new Series(name, Arrays.stream(at).mapToObj(x -> new Point(x, y.apply(x))).toList());
    }

    /** From one to the other, both included. */
    static double[] steps(double from, double to, double step) {
      int count = (int) Math.round((to - from) / step);
      return IntStream.rangeClosed(0, count)
          .mapToDouble(i -> from + (to - from) * i / count)
          .toArray();
    }
  }

  /** A point of a curve; the error is that of the prediction. */
  public record Point(double x, Measure y) {}
}
