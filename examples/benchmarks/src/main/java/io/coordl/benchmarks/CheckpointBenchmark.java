package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures how long a job pauses for each save of its model: without the agent, with {@code
 * checkpoint=atomic}, and with {@code async}. Between two asynchronous saves, the job trains for
 * one second plus three times the duration of a plain save. Exits with 1 unless pauses with {@code
 * async} are shorter than those without the agent by a factor of at least 20 for DL4J and 5 for
 * DJL. Arguments: sizes of the file in MB (10 100; 1000 takes half an hour and 16 GB of memory).
 */
public final class CheckpointBenchmark {
  /** Saves of a small model: many, because the first ones end before their code is compiled. */
  private static final int MANY_SAVES = 15;

  private static final int FEW_SAVES = 4;

  /** Networks at least this wide have large models: 16 MB or more for DJL, 44 MB for DL4J. */
  private static final int WIDE = 2_000;

  private static final Pattern SAVE = Pattern.compile("save ([0-9.]+) ms");

  /**
   * Libraries, with the bytes that they save per weight. DL4J saves two more numbers for each
   * weight, slightly compressed.
   */
  private enum Library {
    DL4J("model.zip", 11, 20),
    DJL("mlp-0001.params", 4, 5);

    final String file;
    final int bytes;
    final int bar;

    Library(String file, int bytes, int bar) {
      this.file = file;
      this.bytes = bytes;
      this.bar = bar;
    }
  }

  private CheckpointBenchmark() {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    List<String> sizes = args.length > 0 ? List.of(args) : List.of("10", "100");
    TextTable table =
        new TextTable("library", "file MB", "plain ms", "atomic ms", "async ms", "plain/async");
    boolean met = true;
    for (Library library : Library.values()) {
      for (String size : sizes) {
        int width = (int) Math.sqrt(Double.parseDouble(size) * 1e6 / library.bytes);
        Path work = Files.createDirectories(Checkout.find().work("checkpoints"));
        double plain = measureMedian(library, work, "", width, 0.1);
        double megabytes = megabytes(library, work);
        double atomic = measureMedian(library, work, "atomic", width, 0.1);
        double async = measureMedian(library, work, "async", width, 1 + 3 * plain / 1e3);
        table.row(
            library.name(),
            number(megabytes),
            number(plain),
            number(atomic),
            number(async),
            number(plain / async));
        met &= plain / async >= library.bar;
      }
    }
    System.out.printf(
        "%nTime that the job pauses for a save, median of the saves after the first, on %s%n%s",
        Jdks.running(), table);
    System.out.println(
        "bars: plain/async of 20 for DL4J, of 5 for DJL: " + (met ? "met" : "missed"));
    System.exit(met ? 0 : 1);
  }

  /** Returns a job that saves models of DL4J or DJL, without its arguments. */
  static ChildJvm job(Checkout checkout, String library) throws IOException {
    return new ChildJvm(
            Jdks.running(),
            "example.checkpoints." + (library.equals("DJL") ? "DjlModels" : "Dl4jModels"))
        .classPath(checkout.testPrograms())
        .classPathFile(checkout.exampleClassPath(library.toLowerCase(Locale.ROOT) + "-image"))
        .jvmArgs(
            "-Xmx4g",
            "-Dorg.bytedeco.javacpp.maxbytes=12g",
            "-Dorg.bytedeco.javacpp.maxphysicalbytes=0",
            "-Dai.djl.offline=true",
            "-DDJL_CACHE_DIR=" + checkout.work("djl-cache"),
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=off");
  }

  private static double measureMedian(
      Library library, Path work, String policy, int width, double seconds)
      throws IOException, InterruptedException {
    Checkout checkout = Checkout.find();
    ChildJvm job =
        job(checkout, library.name())
            .args(
                "paced",
                work.toString(),
                Integer.toString(width),
                String.format(Locale.ROOT, "%.1f", seconds))
            .jvmArgs("-Dpaces=" + (width < WIDE ? MANY_SAVES : FEW_SAVES))
            .timeout(Duration.ofMinutes(60));
    if (!policy.isEmpty()) {
      job.agent(checkout.agentJar(), "record=off,checkpoint=" + policy);
    }
    Matcher save = SAVE.matcher(job.run().orFail(library + " " + policy).err());
    List<Double> saves = new ArrayList<>();
    while (save.find()) {
      saves.add(Double.parseDouble(save.group(1)));
    }
    List<Double> later = saves.subList(1, saves.size()).stream().sorted().toList();
    return later.get(later.size() / 2);
  }

  private static double megabytes(Library library, Path work) throws IOException {
    Path file = work.resolve("paced").resolve(library.file);
    double size = Files.size(file) / 1e6;
    Files.delete(file);
    return size;
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
