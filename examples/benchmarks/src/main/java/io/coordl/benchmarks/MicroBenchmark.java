package io.coordl.benchmarks;

import io.coordl.harness.Jdks;
import java.util.Collection;
import java.util.Locale;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * JMH benchmarks of a single span, and of a single cache hit, decoded item or staged batch, each
 * compared with a plain call or copy. Reads are timed one by one and compared by the fastest of
 * thousands (medians are also shown); spans are timed in bulk and compared by the best iteration.
 * This excludes other load. Decoded items and staged batches are compared by medians. Arguments:
 * number of JVMs (3), and the part to measure: spans, reads, decoded or staging (all).
 */
public final class MicroBenchmark {
  private static final String MICRO = "io.coordl.benchmarks.micro.";

  private MicroBenchmark() {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws RunnerException {
    int forks = args.length > 0 ? Integer.parseInt(args[0]) : 3;
    String part = args.length > 1 ? args[1] : "";
    System.out.printf("%nOn %s, %d JVMs%n", Jdks.running(), forks);
    if ("spans".startsWith(part)) {
      spans(forks);
    }
    if ("reads".startsWith(part)) {
      reads(forks);
    }
    if ("decoded".startsWith(part)) {
      decoded(forks);
    }
    if ("staging".startsWith(part)) {
      staging(forks);
    }
  }

  private static void spans(int forks) throws RunnerException {
    Collection<RunResult> spans = run("SpanCost", forks, 200);
    TextTable table = new TextTable("call", "agent off", "no recording", "recording");
    for (String call : new String[] {"clock", "fetchTime", "sample", "transform"}) {
      table.row(
          call,
          best(score(spans, call, "sink", "NONE")),
          best(score(spans, call, "sink", "NO_RECORDING")),
          best(score(spans, call, "sink", "RECORDING")));
    }
    System.out.printf("%nNanoseconds per call%n%s", table);
  }

  private static void reads(int forks) throws RunnerException {
    Collection<RunResult> reads = run("ReadCost", forks, 500);
    TextTable table =
        new TextTable(
            "read", "bytes", "plain: min", "median", "hit: min", "median", "hit / plain (min)");
    boolean cheaper = true;
    for (String api : new String[] {"stream", "allBytes", "image"}) {
      for (String bytes : new String[] {"30000", "110000"}) {
        Result<?> plain = score(reads, api + "Plain", "bytes", bytes);
        Result<?> hit = score(reads, api + "Hit", "bytes", bytes);
        double ratio = percentile(hit, 0) / percentile(plain, 0);
        cheaper &= ratio < 1;
        table.row(
            api,
            bytes,
            text(percentile(plain, 0)),
            text(percentile(plain, 50)),
            text(percentile(hit, 0)),
            text(percentile(hit, 50)),
            String.format(Locale.ROOT, "%.2f", ratio));
      }
    }
    System.out.printf(
        "%nMicroseconds per read, with a warm page cache; image also decodes%n%s", table);
    System.out.println(
        cheaper
            ? "A hit costs less than the same read from a warm page cache."
            : "NOT every hit costs less than the same read from a warm page cache.");
  }

  private static void staging(int forks) throws RunnerException {
    Collection<RunResult> results = run("StagingCost", forks, 1000);
    double copy = percentile(score(results, "copyDirect"), 50);
    TextTable table = new TextTable("batch of 19.3 MB", "min", "median", "90 %", "/ copyDirect");
    for (String call : new String[] {"copyDirect", "copyShared", "publish", "useAndCopy"}) {
      Result<?> result = score(results, call);
      double median = percentile(result, 50);
      table.row(
          call,
          text(percentile(result, 0)),
          text(median),
          text(percentile(result, 90)),
          String.format(Locale.ROOT, "%.3f", median / copy));
    }
    System.out.printf("%nMicroseconds; the last column compares medians%n%s", table);
  }

  private static void decoded(int forks) throws RunnerException {
    Collection<RunResult> decoded = run("DecodedCost", forks, 500);
    TextTable table =
        new TextTable(
            "side",
            "find: median",
            "copy: min",
            "median",
            "hit: min",
            "median",
            "hit / copy (median)");
    for (String side : new String[] {"64", "224", "346"}) {
      Result<?> copy = score(decoded, "copy", "side", side);
      Result<?> hit = score(decoded, "hit", "side", side);
      table.row(
          side,
          text(percentile(score(decoded, "find", "side", side), 50)),
          text(percentile(copy, 0)),
          text(percentile(copy, 50)),
          text(percentile(hit, 0)),
          text(percentile(hit, 50)),
          String.format(Locale.ROOT, "%.2f", percentile(hit, 50) / percentile(copy, 50)));
    }
    System.out.printf(
        "%nMicroseconds to get one array of side x side x 3 values from the decoded store, and to"
            + " copy the same number of bytes%n%s",
        table);
  }

  private static Collection<RunResult> run(String benchmark, int forks, int millis)
      throws RunnerException {
    return new Runner(
            new OptionsBuilder()
                .include(MICRO.replace(".", "\\.") + benchmark)
                .forks(forks)
                .warmupIterations(3)
                .warmupTime(TimeValue.milliseconds(millis))
                .measurementIterations(5)
                .measurementTime(TimeValue.milliseconds(millis))
                .jvmArgs("-Xms1g", "-Xmx1g", "-Djava.awt.headless=true")
                .verbosity(VerboseMode.NORMAL)
                .build())
        .run();
  }

  private static Result<?> score(
      Collection<RunResult> results, String method, String parameter, String value) {
    for (RunResult result : results) {
      if (result.getParams().getBenchmark().endsWith("." + method)
          && result.getParams().getParam(parameter).equals(value)) {
        return result.getPrimaryResult();
      }
    }
    throw new IllegalStateException("JMH has no result of " + method + " for " + value + ".");
  }

  private static Result<?> score(Collection<RunResult> results, String method) {
    for (RunResult result : results) {
      if (result.getParams().getBenchmark().endsWith("." + method)) {
        return result.getPrimaryResult();
      }
    }
    throw new IllegalStateException("JMH has no result of " + method + ".");
  }

  private static double percentile(Result<?> result, double rank) {
    return result.getStatistics().getPercentile(rank);
  }

  private static String best(Result<?> result) {
    return text(result.getStatistics().getMin());
  }

  private static String text(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
