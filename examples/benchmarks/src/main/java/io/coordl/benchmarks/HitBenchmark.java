package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures the cost of a hit and of an admission against that of a plain open, read and close, with
 * as many files as real data sets have, and a warm page cache. This is the worst case for a cache,
 * because storage is free. A plain JVM and one with {@code cache=minio} take turns; what counts is
 * the reading thread's CPU time in the fastest epoch.
 *
 * <p>Limits: a hit costs at most as much as the plain call for a stream, at most 1.2 times as much
 * for a {@code RandomAccessFile} (even a hit opens the file); an admission costs at most 15 us more
 * than the plain call.
 *
 * <p>Arguments: files of 4 KiB (200000; ImageNet has 1281167), turns (2), epochs of each JVM (5).
 * The exit status is 1 if a limit is exceeded.
 */
public final class HitBenchmark {
  private static final Pattern EPOCH = Pattern.compile("epoch (\\d+): ([\\d.]+) us a file");
  private static final double MAX_ADMISSION = 15;

  private HitBenchmark() {}

  /** Runs the benchmark; the class description lists the arguments. */
  @SuppressWarnings("SystemExitOutsideMain")
  public static void main(String[] args) throws IOException, InterruptedException {
    int files = args.length > 0 ? Integer.parseInt(args[0]) : 200_000;
    int turns = args.length > 1 ? Integer.parseInt(args[1]) : 2;
    String epochs = args.length > 2 ? args[2] : "5";
    Checkout checkout = Checkout.find();
    Path data = checkout.work("hits-" + files);
    TextTable table =
        new TextTable(
            "read", "plain us", "hit us", "hit / plain", "at most", "first us", "more", "at most");
    boolean within = true;
    for (String api : List.of("stream", "random")) {
      run(checkout, data, files, api, "1", ""); // Makes the files and fills the page cache.
      List<Double> plain = new ArrayList<>();
      List<Double> hit = new ArrayList<>();
      List<Double> first = new ArrayList<>();
      for (int turn = 0; turn < turns; turn++) {
        List<Double> own = run(checkout, data, files, api, epochs, "");
        plain.addAll(own.subList(1, own.size()));
        List<Double> cached =
            run(checkout, data, files, api, epochs, "record=off,cache=minio,dataset=" + data);
        first.add(cached.get(0));
        hit.addAll(cached.subList(1, cached.size()));
      }
      double least = Collections.min(plain);
      double ratio = Collections.min(hit) / least;
      double more = Collections.min(first) - least;
      double limit = api.equals("stream") ? 1 : 1.2;
      within &= ratio <= limit && more <= MAX_ADMISSION;
      table.row(
          api,
          text(least),
          text(Collections.min(hit)),
          text(ratio),
          text(limit),
          text(Collections.min(first)),
          text(more),
          text(MAX_ADMISSION));
    }
    System.out.printf("%nCPU time, %,d files of 4 KiB, %s%n%s", files, Jdks.running(), table);
    System.out.println("made by: " + Commands.of(checkout, HitBenchmark.class, args));
    System.exit(within ? 0 : 1);
  }

  private static String text(double number) {
    return String.format(Locale.ROOT, "%.2f", number);
  }

  /** Runs the job and returns its microseconds per file, by epoch. */
  private static List<Double> run(
      Checkout checkout, Path data, int files, String api, String epochs, String agent)
      throws IOException, InterruptedException {
    ChildJvm job =
        new ChildJvm(Jdks.running(), ReadFiles.class.getName())
            .classPath(checkout.benchmarkClasses())
            .timeout(Duration.ofHours(1))
            .args(data.toString(), Integer.toString(files), api, epochs);
    if (!agent.isEmpty()) {
      job.agent(checkout.agentJar(), agent);
    }
    List<Double> micros = new ArrayList<>();
    Matcher lines = EPOCH.matcher(job.run().orFail("reading files").out());
    while (lines.find()) {
      micros.add(Double.parseDouble(lines.group(2)));
    }
    return micros;
  }
}
