package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * CPU time that the training thread spends on preparing samples from the second epoch on, without
 * the agent and with {@code prepared=share}, for data sets of many kinds. Exits with 1 if a batch
 * differs, or if the time with {@code prepared=share} is more than a twentieth of the time without
 * the agent; samples too cheap to be cached have no such limit. Arguments: the number of samples
 * (5000), of epochs (4), a part of the programs' names, such as {@code DL4J text} (all).
 */
public final class PreparedBenchmark {
  private static final double BAR = 20;
  private static final int PICTURES = 600;
  private static final Pattern CPU = Pattern.compile("cpu \\w+ (\\d+) (\\d+)");

  private static final String DJL = "DJL";
  private static final String DL4J = "DL4J";

  /** Samples so cheap that the agent does not cache them. */
  private static final String CHEAP = "small";

  private static final List<Kind> KINDS =
      List.of(
          new Kind(DJL, "csv"),
          new Kind(DJL, "text"),
          new Kind(DJL, "audio"),
          new Kind(DJL, "images"),
          new Kind(DJL, CHEAP),
          new Kind(DL4J, "csv"),
          new Kind(DL4J, "text"),
          new Kind(DL4J, "sequences"),
          new Kind(DL4J, "images"));

  /** A library and the kind of its samples. */
  private record Kind(String library, String program) {
    @Override
    public String toString() {
      return library + " " + program;
    }
  }

  private PreparedBenchmark() {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    String samples = args.length > 0 ? args[0] : "5000";
    String epochs = args.length > 1 ? args[1] : "4";
    String part = args.length > 2 ? args[2] : "";
    Checkout checkout = Checkout.find();
    Path work = Files.createDirectories(checkout.work("prepared"));
    Pictures.make(checkout, work.resolve("pictures"), "2", Integer.toString(PICTURES / 2));
    TextTable table =
        new TextTable(
            "library",
            "samples",
            "first epoch s",
            "prepared",
            "later epochs s",
            "prepared",
            "speed-up");
    boolean met = true;
    for (Kind kind : KINDS.stream().filter(each -> each.toString().contains(part)).toList()) {
      String program = kind.program;
      ChildResult plain = job(checkout, work, kind, samples, epochs).run().orFail(kind.toString());
      ChildResult kept =
          job(checkout, work, kind, samples, epochs)
              .agent(checkout.agentJar(), "record=off,prepared=share")
              .run()
              .orFail(kind + " with prepared=share");
      if (!plain.out().equals(kept.out())) {
        System.out.println("The batches of " + kind + " differ.");
        System.exit(1);
      }
      double speedUp = later(plain) / later(kept);
      table.row(
          kind.library,
          program,
          seconds(first(plain)),
          seconds(first(kept)),
          seconds(later(plain)),
          seconds(later(kept)),
          String.format(Locale.ROOT, "%.1f", speedUp));
      met &= speedUp >= BAR || kind.program.equals(CHEAP);
    }
    System.out.printf(
        "%nCPU time of the training thread, %s samples (%d pictures), %s epochs, on %s; batches"
            + " identical%n%s",
        samples, PICTURES, epochs, Jdks.running(), table);
    System.out.println("bar: a speed-up of 20: " + (met ? "met" : "missed"));
    System.exit(met ? 0 : 1);
  }

  private static ChildJvm job(
      Checkout checkout, Path work, Kind kind, String samples, String epochs) throws IOException {
    String library = kind.library;
    return new ChildJvm(
            Jdks.running(),
            "example.prepared." + (library.equals(DJL) ? "DjlSamples" : "Dl4jSamples"))
        .classPath(checkout.testPrograms())
        .classPathFile(checkout.exampleClassPath(library.toLowerCase(Locale.ROOT) + "-image"))
        .jvmArgs(
            "-Djava.awt.headless=true",
            "-Depochs=" + epochs,
            "-Dai.djl.offline=true",
            "-DDJL_CACHE_DIR=" + checkout.work("djl-cache"),
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=off")
        .environment("OMP_NUM_THREADS", "1")
        .args(kind.program, work.toString(), samples);
  }

  private static double first(ChildResult job) {
    return nanos(job, true);
  }

  private static double later(ChildResult job) {
    return nanos(job, false);
  }

  private static double nanos(ChildResult job, boolean first) {
    double nanos = 0;
    Matcher epoch = CPU.matcher(job.err());
    while (epoch.find()) {
      nanos += epoch.group(1).equals("1") == first ? Double.parseDouble(epoch.group(2)) : 0;
    }
    return nanos;
  }

  private static String seconds(double nanos) {
    return String.format(Locale.ROOT, "%.3f", nanos / 1e9);
  }
}
