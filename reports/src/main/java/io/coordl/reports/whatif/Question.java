package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;
import io.coordl.reports.differential.Missing;
import io.coordl.telemetry.advice.Arguments;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.advice.Text.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One question about a job. Each question evaluates the {@link Pipeline} on its own, states how
 * certain its answer is, and suggests only arguments that the agent accepts.
 */
abstract class Question {
  private static final long GIBIBYTE = 1L << 30;

  /** Figures with a larger relative error are unreliable. */
  private static final double LARGE_ERROR = 0.3;

  final String name;
  private final String title;
  private final String[] needed;

  /**
   * @param name stable, for programs
   * @param needed components of a pipeline that the question needs, besides compute, prep and miss
   */
  Question(String name, String title, String... needed) {
    this.name = name;
    this.title = title;
    this.needed =
        Stream.concat(Stream.of("computeNanos", "prepNanos", "missNanos"), Stream.of(needed))
            .toArray(String[]::new);
  }

  /**
   * The result of a question.
   *
   * @param assumptions assumptions in addition to the pipeline's
   */
  record Finding(
      String sentence,
      Figure figure,
      Plot plot,
      List<String> arguments,
      List<String> assumptions) {}

  /** Returns whether the question applies to the job. */
  boolean concerns(Pipeline pipeline) {
    return true;
  }

  Answer ask(Pipeline pipeline, Scenario scenario) {
    List<Missing> missing = missing(pipeline, scenario);
    if (!missing.isEmpty()) {
      String reasons =
          missing.stream()
              .map(one -> one.reason().replaceFirst("\\.$", ""))
              .distinct()
              .collect(Collectors.joining("; and ", "", "."));
      return new Answer(
          name, title, "no answer: " + reasons, null, null, List.of(), List.of(), missing);
    }
    Finding found = find(pipeline, scenario);
    List<String> assumptions = new ArrayList<>(pipeline.assumptions);
    assumptions.addAll(found.assumptions());
    return new Answer(
        name,
        title,
        found.sentence() + hint(pipeline, found.figure().measure()),
        found.figure(),
        found.plot(),
        Arguments.merged(pipeline.given, found.arguments()),
        assumptions,
        missing);
  }

  List<Missing> missing(Pipeline pipeline, Scenario scenario) {
    return pipeline.missing(needed);
  }

  /** Computes the answer; called only if nothing is missing. */
  abstract Finding find(Pipeline pipeline, Scenario scenario);

  /**
   * Returns a sentence, with a leading blank, that asks for the number of cores of a step if its
   * error makes the answer's error large; otherwise empty.
   */
  String hint(Pipeline pipeline, Measure figure) {
    Measure cores = pipeline.computeCores;
    return cores == null || cores.error() == 0 || figure.error() < LARGE_ERROR * figure.value()
        ? ""
        : " The error is large because it is not known how many cores a step keeps busy: pass"
            + " --compute-cores N, 0 for an accelerator.";
  }

  /** Returns whether a gain exceeds its error and is worth a change. */
  static boolean isWorthIt(Measure gain) {
    return gain.value() - gain.error() > 1 && gain.value() >= 1.05;
  }

  /**
   * Returns the arguments that turn on prefetching; empty if other threads already prepare batches,
   * if the agent cannot prefetch them, or if the gain is too small.
   */
  static List<String> prefetch(Pipeline pipeline, Measure gain) {
    return pipeline.isSerial() && pipeline.canBePrefetched && isWorthIt(gain)
        ? List.of("prefetch=2")
        : List.of();
  }

  static List<String> minio(Pipeline pipeline, double share) {
    return List.of("cache=minio", "cache.size=" + budget(share * pipeline.datasetBytes));
  }

  /** Returns a budget argument for this many bytes, plus a tenth for the index. */
  static String budget(double bytes) {
    double padded = bytes * 1.1;
    return padded < GIBIBYTE
        ? Math.max(1, (long) Math.ceil(padded / (1L << 20))) + "m"
        : (long) Math.ceil(padded / GIBIBYTE) + "g";
  }

  static List<String> storageAssumption(Pipeline pipeline) {
    return pipeline.storageRate == null
        ? List.of("the storage, whose rate is not known, does not limit the job")
        : List.of();
  }

  static String speed(Pipeline pipeline, Setup setup) {
    return speed(pipeline.speed(setup));
  }

  /** Returns a plot of a job's speed with its point today. */
  static Plot plot(Pipeline pipeline, Axis x, double today, Series... series) {
    return Plot.of(x, Axis.SPEED, new Point(today, pipeline.speed(pipeline.today())), series);
  }

  static Series series(String name, double[] at, Pipeline pipeline, DoubleFunction<Setup> setup) {
    return Series.of(name, at, x -> pipeline.speed(setup.apply(x)));
  }

  /** Returns a plot of a job's speed by cache size; its point today may be unknown. */
  static Plot plotByCacheSize(Pipeline pipeline, Series... series) {
    Measure hit = pipeline.todayHit;
    return hit == null
        ? Plot.of(Axis.CACHE, Axis.SPEED, null, series)
        : plot(
            pipeline,
            Axis.CACHE,
            pipeline.freeMemoryBytes == 0 ? hit.value() : pipeline.memoryShare(),
            series);
  }

  static String speed(Measure measure) {
    return measure.text() + " samples/s";
  }

  static String bytes(double bytes) {
    return new Bytes(Math.round(bytes)).toString();
  }

  /** Formats a factor: {@code 1.32 ± 0.05x}. */
  static String times(Measure measure) {
    return measure.hasSmallError()
        ? Text.format("%.2f ± %.2fx", measure.value(), measure.error())
        : Text.format("%.2fx (%.2f to %.2f)", measure.value(), measure.low(), measure.high());
  }

  /** Formats a factor with its significant digits: {@code 10.0 ± 0.5x}. */
  static String factor(Measure measure) {
    return measure.hasSmallError() ? measure.text() + "x" : measure.text().replaceFirst(" ", "x ");
  }

  static String percent(double share) {
    return Text.format("%.0f %%", 100 * share);
  }

  static String tenths(double share) {
    return Text.format("%.1f %%", 100 * share);
  }

  static String percent(Measure share) {
    return Text.format("%.0f ± %.0f %%", 100 * share.value(), 100 * share.error());
  }
}
