package io.coordl.benchmarks;

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
 * What one span and one hit cost next to the plain call, by JMH. What other programs take from this
 * one in the meantime is kept out: reads, which are timed one by one, are compared by the quickest
 * of thousands (medians are shown, too), spans, which are timed by many, by the best iteration.
 * Argument: JVMs that each is measured in (3).
 */
public final class MicroBenchmark {
  private static final String MICRO = "io.coordl.benchmarks.micro.";

  private MicroBenchmark() {}

  /** See the class. */
  public static void main(String[] args) throws RunnerException {
    int forks = args.length > 0 ? Integer.parseInt(args[0]) : 3;
    Collection<RunResult> spans = run("SpanCost", forks, 200);
    Collection<RunResult> reads = run("ReadCost", forks, 500);

    TextTable spanTable = new TextTable("call", "agent off", "no recording", "recording");
    for (String call : new String[] {"clock", "fetchTime", "sample", "transform"}) {
      spanTable.row(
          call,
          best(score(spans, call, "sink", "NONE")),
          best(score(spans, call, "sink", "NO_RECORDING")),
          best(score(spans, call, "sink", "RECORDING")));
    }
    System.out.printf(
        "%nNanoseconds of one call, %d JVMs, on %s%n%s", forks, Jdks.running(), spanTable);

    TextTable readTable =
        new TextTable(
            "read",
            "bytes",
            "plain: least",
            "median",
            "hit: least",
            "median",
            "hit / plain (least)");
    boolean cheaper = true;
    for (String api : new String[] {"stream", "allBytes", "image"}) {
      for (String bytes : new String[] {"30000", "110000"}) {
        Result<?> plain = score(reads, api + "Plain", "bytes", bytes);
        Result<?> hit = score(reads, api + "Hit", "bytes", bytes);
        double ratio = percentile(hit, 0) / percentile(plain, 0);
        cheaper &= ratio < 1;
        readTable.row(
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
        "%nMicroseconds of one read, %d JVMs, page cache warm; image decodes, too%n%s",
        forks, readTable);
    System.out.println(
        cheaper
            ? "A hit costs less than the same read from a warm page cache."
            : "NOT every hit costs less than the same read from a warm page cache.");
    staging(run("StagingCost", forks, 1000));
  }

  private static void staging(Collection<RunResult> results) {
    double copy = percentile(score(results, "copyDirect"), 50);
    TextTable table = new TextTable("batch of 19.3 MB", "least", "median", "90 %", "/ copyDirect");
    for (String call :
        new String[] {"copyDirect", "copyShared", "publish", "use", "useAndCopy"}) {
      Result<?> result = score(results, call);
      double median = percentile(result, 50);
      table.row(
          call,
          text(percentile(result, 0)),
          text(median),
          text(percentile(result, 90)),
          String.format(Locale.ROOT, "%.3f", median / copy));
    }
    System.out.printf("%nMicroseconds; the last column is of medians%n%s", table);
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
