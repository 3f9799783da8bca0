package io.coordl.reports.whatif;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.coordl.advice.Arguments;
import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
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
 * @param assumptions what the figure takes for granted
 * @param missing what was not measured, and how to get it
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Answer(
    String question,
    String title,
    String sentence,
    @Nullable Figure figure,
    @Nullable Plot plot,
    List<String> arguments,
    List<String> assumptions,
    List<Missing> missing) {

  /** An error of this part of a figure leaves little of it. */
  private static final double HARDLY = 0.3;

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
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Plot(Axis x, Axis y, @Nullable Point today, List<Series> series) {}

  /** What an axis shows, and its unit as in {@link Figure}. */
  public record Axis(String name, String unit) {}

  /** A curve, from left to right. */
  public record Series(String name, List<Point> points) {}

  /** A point of a curve; the error is that of the prediction. */
  public record Point(double x, Measure y) {}

  /**
   * The same; where the figure is hardly one because it is not known how many cores a step keeps
   * busy, the sentence says so.
   */
  Answer hinting(Pipeline pipeline) {
    Measure cores = pipeline.computeCores();
    if (figure == null
        || cores == null
        || cores.error() == 0
        || figure.measure().error() < HARDLY * figure.measure().value()) {
      return this;
    }
    return new Answer(
        question,
        title,
        sentence
            + " The error is that large because it is not known how many cores a step keeps busy:"
            + " give --compute-cores N, 0 for an accelerator.",
        figure,
        plot,
        arguments,
        assumptions,
        missing);
  }

  /** The same, with its arguments among those that the job had: no cure is dropped for another. */
  Answer beside(Map<String, String> given) {
    return new Answer(
        question,
        title,
        sentence,
        figure,
        plot,
        Arguments.merged(given, arguments),
        assumptions,
        missing);
  }

  /** True if something is missing for an answer. */
  boolean isWithheld() {
    return !missing.isEmpty();
  }

  static Answer withheld(String question, String title, List<Missing> missing) {
    return new Answer(
        question,
        title,
        "no answer: "
            + missing.stream().map(Missing::reason).distinct().collect(Collectors.joining(" ")),
        null,
        null,
        List.of(),
        List.of(),
        missing);
  }
}
