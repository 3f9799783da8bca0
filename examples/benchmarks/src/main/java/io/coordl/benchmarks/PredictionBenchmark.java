package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Compares predicted with measured speeds: profiles a job once ({@code coordl profile}), predicts
 * its speed with other caches, workers and accelerators ({@code coordl whatif}), then runs it with
 * these.
 *
 * <p>The job is DJL's {@code ImageFolder} on bitmaps with {@value #WORKERS} threads and an emulated
 * accelerator ({@code example.loader.DjlEmulated}); its storage is a throttled disk with hardly any
 * page cache ({@link SlowStorage}). There are three sweeps:
 *
 * <ul>
 *   <li>the MinIO cache holds 0, 20, 35, 50, 65, 80 or 100 % of the data set
 *   <li>1 to {@value #WORKERS} workers, limited by preparation, from a separate profile with small
 *       pictures. Their preparation is emulated ({@value #WAIT_MILLIS} ms without a core), because
 *       the speed of real computation drifts on a shared machine; {@code whatif} gets {@code
 *       --cores 64}, so that it assumes enough cores
 *   <li>steps 1, 2 or 4 times as fast, everything cached
 * </ul>
 *
 * <p>Bitmaps are large and fast to decode, so the data set is much larger than the few megabytes of
 * page cache, and the disk limits the job. (Padding small pictures would not work: a cache reads
 * the padding, the program does not.) To make speeds steady, a job runs for about {@value #SECONDS}
 * s or longer. Only the last third of its epochs counts, at least three, and of each epoch only the
 * time after its first quarter. This excludes JIT compilation and the queue that DJL refills in
 * each epoch. Errors are relative to the measured speed; the bar is {@value #BAR} % at every point
 * of the cache sweep, as in figure 11 of the DS-Analyzer paper (VLDB'21), and {@value #MEDIAN_BAR}
 * % in the median.
 *
 * <p>Arguments: samples of the data set (900; in longer epochs the idle threads at the end matter
 * less); parts to run, of profile, cache, workers and speed (all; without profile, the last profile
 * is used). Exit status 1 if the bar is missed, 2 if the storage cannot be set up.
 */
public final class PredictionBenchmark {
  private static final int WORKERS = 4;
  private static final double BAR = 4;
  private static final double MEDIAN_BAR = 2;
  private static final List<Integer> SHARES = List.of(0, 20, 35, 50, 65, 80, 100);
  private static final List<Integer> FACTORS = List.of(1, 2, 4);
  private static final int BATCH = 8;
  private static final double WAIT_MILLIS = 20;
  private static final double SHORT_STEP_MILLIS = 5;
  private static final int SMALL_BATCH = 2;
  private static final int SMALL_SIDE = 32;

  /**
   * Storage takes as long for a batch as such a step when about three quarters of the data set are
   * cached. This share lies between two points of the sweep, because equally busy parts of a job
   * also wait for each other; {@code whatif} reports that it ignores this.
   */
  private static final double STEP_MILLIS = 88;

  /** Bytes/s; slow enough to leave the cores slack, because they also emulate the disk. */
  private static final long DISK = 8_000_000;

  private static final int SIDE = 340;
  private static final int SECONDS = 40;
  private static final int MIN_EPOCHS = 4;
  private static final Set<String> PARTS =
      new TreeSet<>(List.of("profile", "cache", "workers", "speed"));
  private static final Pattern EPOCH =
      Pattern.compile("^epoch (\\d+): ([0-9.]+) samples/s$", Pattern.MULTILINE);

  private final Checkout checkout = Checkout.find();
  private final Path work = checkout.work("prediction");
  private final CoordlTool coordl = new CoordlTool(checkout);
  private final Path small;
  private final Path data;
  private final int samples;
  private final long bytes;
  private final List<Double> cacheErrors = new ArrayList<>();
  private final List<Double> otherErrors = new ArrayList<>();
  private final TextTable table =
      new TextTable("sweep", "point", "predicted", "±", "measured", "min", "max", "error %");

  /**
   * Uses two data sets with the same number of samples.
   *
   * @param small small pictures, on the machine's own storage
   * @param data pictures on slow storage
   */
  private PredictionBenchmark(Path small, Path data, int samples) throws IOException {
    this.small = small;
    this.data = data;
    this.samples = samples;
    bytes = SlowStorage.size(data);
  }

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    List<String> missing = SlowStorage.missing();
    if (!missing.isEmpty()) {
      System.out.println("Not measured: slow storage needs " + String.join(", ", missing) + ".");
      System.exit(2);
    }
    int samples = args.length > 0 ? Integer.parseInt(args[0]) : 900;
    Set<String> parts =
        args.length > 1 ? new TreeSet<>(List.of(args).subList(1, args.length)) : PARTS;
    if (!PARTS.containsAll(parts)) {
      System.out.println(
          "Not measured: the parts are " + parts + ", expected some of " + PARTS + ".");
      System.exit(2);
    }
    Checkout checkout = Checkout.find();
    Path work = Files.createDirectories(checkout.work("prediction"));
    Path pictures = Bitmaps.make(checkout, work, samples, SIDE);
    Path small = Bitmaps.make(checkout, work, samples, SMALL_SIDE);
    boolean right;
    try (SlowStorage storage = new SlowStorage(work, pictures, DISK)) {
      right = new PredictionBenchmark(small, storage.directory(), samples).measure(parts);
    }
    System.out.println("made by: " + Commands.of(checkout, PredictionBenchmark.class, args));
    System.exit(right ? 0 : 1);
  }

  private boolean measure(Set<String> parts) throws IOException, InterruptedException {
    System.out.printf(
        Locale.ROOT,
        "%,d bytes on a disk of %,d bytes/s, %d workers, steps of %.0f ms for %d samples%n",
        bytes,
        DISK,
        WORKERS,
        STEP_MILLIS,
        BATCH);
    Path profile = work.resolve("profile.jfr");
    if (parts.contains("profile")) {
      coordl.profile(profile, job(WORKERS, STEP_MILLIS, 1000));
    }
    if (parts.contains("cache")) {
      JsonNode answers = answers(profile);
      for (int share : SHARES) {
        Predicted predicted = point(answers, "cacheSize", "MinIO", share / 100.0);
        cacheErrors.add(
            Double.valueOf(
                compare("cache", share + " %", predicted, run(WORKERS, 1, share, predicted))));
      }
    }
    if (parts.contains("workers")) {
      workers(parts.contains("profile"));
    }
    if (parts.contains("speed")) {
      JsonNode answers = answers(profile);
      for (int factor : FACTORS) {
        Predicted predicted = point(answers, "gpu", "everything in memory", factor);
        otherErrors.add(
            Double.valueOf(
                compare(
                    "step speed", factor + " x", predicted, run(WORKERS, factor, 100, predicted))));
      }
    }
    System.out.print(table);
    if (!otherErrors.isEmpty()) {
      System.out.printf(
          Locale.ROOT,
          "other sweeps: worst error %.1f %%%n",
          otherErrors.stream().mapToDouble(Double::doubleValue).max().orElseThrow());
    }
    if (cacheErrors.isEmpty()) {
      return true;
    }
    double worst = cacheErrors.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    double median = Pairs.median(cacheErrors);
    System.out.printf(
        Locale.ROOT,
        "cache sweep: worst error %.1f %% (bar %.0f), median %.1f %% (bar %.0f)%n",
        worst,
        BAR,
        median,
        MEDIAN_BAR);
    return worst <= BAR && median <= MEDIAN_BAR;
  }

  private void workers(boolean reprofile) throws IOException, InterruptedException {
    Path profile = work.resolve("profile-workers.jfr");
    if (reprofile || Files.notExists(profile)) {
      coordl.profile(profile, waiting(WORKERS, 1000));
    }
    // Waiting threads need no core, so pretend there are many.
    JsonNode answers = answers(profile, "--cores", "64");
    for (int workers = 1; workers <= WORKERS; workers++) {
      Predicted predicted = point(answers, "cores", "", workers);
      int epochs = epochs(predicted);
      otherErrors.add(
          Double.valueOf(
              compare(
                  "workers",
                  Integer.toString(workers),
                  predicted,
                  rates(waiting(workers, epochs), epochs))));
    }
  }

  private JsonNode answers(Path profile, String... options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("whatif", "--json"));
    command.addAll(List.of(options));
    command.add(profile.toString());
    return JsonMapper.shared().readTree(coordl.run(command.toArray(String[]::new))).path("answers");
  }

  /** A predicted speed and its error, in samples/s. */
  private record Predicted(double speed, double error) {}

  /** Returns the value of a curve at {@code x}, interpolated if needed. */
  private static Predicted point(JsonNode answers, String question, String series, double x) {
    for (JsonNode answer : answers) {
      if (!answer.path("question").asString().equals(question)) {
        continue;
      }
      for (JsonNode one : answer.path("plot").path("series")) {
        if (series.isEmpty() || one.path("name").asString().equals(series)) {
          return between(one.path("points"), x);
        }
      }
      throw new IllegalStateException(
          question + " has no curve " + series + ": " + answer.path("sentence").asString());
    }
    throw new IllegalStateException("coordl whatif answers no question " + question + ".");
  }

  private static Predicted between(JsonNode points, double x) {
    JsonNode left = null;
    for (JsonNode right : points) {
      double at = right.path("x").doubleValue();
      if (Math.abs(at - x) < 1e-9) {
        return predicted(right);
      }
      if (left != null && at > x) {
        double from = left.path("x").doubleValue();
        Predicted before = predicted(left);
        Predicted after = predicted(right);
        double part = (x - from) / (at - from);
        return new Predicted(
            before.speed + part * (after.speed - before.speed),
            Math.max(before.error, after.error));
      }
      left = right;
    }
    throw new IllegalStateException("The curve does not reach " + x + ".");
  }

  private static Predicted predicted(JsonNode point) {
    return new Predicted(
        point.path("y").path("value").doubleValue(), point.path("y").path("error").doubleValue());
  }

  private double compare(String sweep, String point, Predicted predicted, List<Double> measured) {
    double speed = Pairs.median(measured);
    double error = 100 * (predicted.speed / speed - 1);
    table.row(
        sweep,
        point,
        number(predicted.speed),
        number(predicted.error),
        number(speed),
        number(measured.stream().mapToDouble(Double::doubleValue).min().orElseThrow()),
        number(measured.stream().mapToDouble(Double::doubleValue).max().orElseThrow()),
        String.format(Locale.ROOT, "%+.1f", error));
    System.out.printf(
        Locale.ROOT, "  %s %s: %.1f, measured %.1f%n", sweep, point, predicted.speed, speed);
    return Math.abs(error);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private List<Double> run(int workers, double factor, int share, Predicted predicted)
      throws IOException, InterruptedException {
    int epochs = epochs(predicted);
    ChildJvm job = job(workers, STEP_MILLIS / factor, epochs);
    if (share > 0) {
      // The whole data set also needs room for the index.
      long size = share == 100 ? bytes + bytes / 8 + (16 << 20) : bytes * share / 100;
      job.agent(checkout.agentJar(), "record=off,summary=off,cache=minio,cache.size=" + size);
    }
    return rates(job, epochs);
  }

  private int epochs(Predicted predicted) {
    return (int) Math.max(MIN_EPOCHS, Math.ceil(SECONDS * predicted.speed / samples));
  }

  /** Returns the samples/s of the measured epochs. */
  private static List<Double> rates(ChildJvm job, int epochs)
      throws IOException, InterruptedException {
    String out = job.run().orFail("The job").out();
    List<Double> rates =
        EPOCH.matcher(out).results().map(epoch -> Double.valueOf(epoch.group(2))).toList();
    if (rates.size() != epochs) {
      throw new IllegalStateException(
          "The job printed the rates " + rates + ", expected " + epochs + " epochs.");
    }
    return rates.subList(epochs - Math.max(3, epochs / 3), epochs);
  }

  private ChildJvm job(int workers, double stepMillis, int epochs) throws IOException {
    return program(data, epochs, workers, stepMillis, BATCH);
  }

  private ChildJvm waiting(int workers, int epochs) throws IOException {
    return program(small, epochs, workers, SHORT_STEP_MILLIS, SMALL_BATCH)
        .args(Double.toString(WAIT_MILLIS));
  }

  private ChildJvm program(Path from, int epochs, int workers, double stepMillis, int batch)
      throws IOException {
    return Example.DJL
        .program(checkout, Jdks.running(), "example.loader.DjlEmulated")
        .classPath(checkout.testPrograms())
        .args(
            from.toString(),
            Integer.toString(epochs),
            Integer.toString(workers),
            Double.toString(stepMillis),
            Integer.toString(batch));
  }
}
