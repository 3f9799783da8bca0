package io.coordl.benchmarks;

import io.coordl.benchmarks.micro.LargeRecording;
import io.coordl.benchmarks.micro.MissionControlReading;
import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares the time for a report of a large recording with that of JDK Mission Control's parser for
 * the same file. {@code coordl report}, started by its launcher but with 256 MiB of heap, and the
 * parser, with the heap it needs, take turns in separate JVMs. Exits with 1 if the report is slower
 * or the two count different events. Arguments: turns (3), millions of events (10).
 */
public final class ReportBenchmark {
  private static final Pattern TOTAL =
      Pattern.compile("\"sources\":\\[\\{[^]]*?\"batches\":(\\d+)");
  private static final String REPORT_HEAP = "-Xmx256m";
  private static final String PARSER_HEAP = "-Xmx8g";
  private static final double BAR = 1;

  private ReportBenchmark() {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int turns = args.length > 0 ? Integer.parseInt(args[0]) : 3;
    long events = 1_000_000L * (args.length > 1 ? Integer.parseInt(args[1]) : 10);
    Checkout checkout = Checkout.find();
    Path work = Files.createDirectories(checkout.work("report"));
    Path recording = work.resolve("large.jfr");
    Path page = work.resolve("large.html");
    newJvm(LargeRecording.class)
        .args(recording.toString(), Long.toString(events))
        .run()
        .orFail("Writing the recording");

    CoordlTool coordl = new CoordlTool(checkout);
    List<Double> ratios = new ArrayList<>();
    TextTable table =
        new TextTable("turn", "report s", "parser s", "ratio", "report CPU s", "parser CPU s");
    for (int turn = 1; turn <= turns; turn++) {
      ChildResult report =
          coordl
              .command(
                  Jdks.running(), "report", "--force", recording.toString(), "-o", page.toString())
              .environment("JDK_JAVA_OPTIONS", REPORT_HEAP)
              .run()
              .orFail("coordl report with " + REPORT_HEAP);
      ChildResult parser =
          newJvm(MissionControlReading.class)
              .jvmArgs(PARSER_HEAP)
              .args(recording.toString())
              .run()
              .orFail("The parser of JDK Mission Control");
      checkSame(Files.readString(page), parser.out());
      double ratio = (double) parser.wall().toMillis() / report.wall().toMillis();
      ratios.add(ratio);
      table.row(
          Integer.toString(turn),
          seconds(report.wall()),
          seconds(parser.wall()),
          String.format(Locale.ROOT, "%.2f", ratio),
          String.format(Locale.ROOT, "%.2f", report.cpuSeconds()),
          String.format(Locale.ROOT, "%.2f", parser.cpuSeconds()));
    }
    System.out.printf(
        Locale.ROOT,
        "%n%,d events, %,d bytes; report with %s, parser with %s%n%s",
        events,
        Files.size(recording),
        REPORT_HEAP,
        PARSER_HEAP,
        table);
    System.out.println("made by: " + Commands.of(checkout, ReportBenchmark.class, args));
    double median = Pairs.median(ratios);
    System.out.printf(Locale.ROOT, "median %.2f times as fast, bar %.1f%n", median, BAR);
    System.exit(median >= BAR ? 0 : 1);
  }

  private static ChildJvm newJvm(Class<?> program) {
    return new ChildJvm(Jdks.running(), program.getName())
        .classPath(Path.of(System.getProperty("java.class.path")));
  }

  /** Fails unless report and parser count the same batches and events. */
  private static void checkSame(String page, String parsed) {
    Map<String, Long> counts = new HashMap<>();
    for (String line : parsed.lines().toList()) {
      String[] words = line.split(" ", -1);
      counts.merge(words[0], Long.parseLong(words[1]), Long::sum);
    }
    Matcher total = TOTAL.matcher(page);
    long expected = counts.getOrDefault("io.coordl.Batch", 0L);
    if (!total.find() || Long.parseLong(total.group(1)) != expected) {
      throw new IllegalStateException(
          "The report and the parser disagree: the parser counts " + expected + " batches.");
    }
    long all = counts.values().stream().mapToLong(Long::longValue).sum();
    Matcher events = Pattern.compile("\"events\":(\\d+)").matcher(page);
    if (!events.find() || Long.parseLong(events.group(1)) != all) {
      throw new IllegalStateException(
          "The report and the parser disagree: the parser counts " + all + " events.");
    }
  }

  private static String seconds(Duration wall) {
    return String.format(Locale.ROOT, "%.2f", wall.toMillis() / 1e3);
  }
}
