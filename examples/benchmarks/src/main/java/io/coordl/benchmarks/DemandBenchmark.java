package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests whether a job with fewer cores, less memory or slower storage is as fast as {@code coordl
 * demand} predicts. Profiles a job ({@code coordl profile --fewer-cores}), runs {@code coordl
 * demand}, then measures the job at up to ten points: one and two cores (a CPU set), 0.5, 1 and 1.5
 * cores (a quota), a cache of 0, 25, 50 and 75 % of the data set, and storage half as fast.
 *
 * <p>All jobs are started first and then take turns ({@link TurnTaker}). In each round every job
 * has one turn of whole epochs, at least {@value #TURN_SECONDS} s; the next round reverses the
 * order. A point's speed is the median over its turns. So a change in the machine's speed affects
 * all points; the machine's speed during the profile and in the rounds is printed, too.
 *
 * <p>The jobs: {@code DJL} decodes pictures on four threads for an emulated accelerator ({@code
 * example.loader.DjlEmulated}); {@code DL4J} decodes them on DL4J's own thread for steps that are
 * computed ({@code example.loader.Dl4jSteps}). Both read bitmaps from a throttled disk with hardly
 * any page cache ({@link SlowStorage}).
 *
 * <p>The cost of the profile is compared with that of measuring every point of {@code coordl
 * demand}'s table, assuming that each takes as long as a point took here in one round, start
 * included.
 *
 * <p>Arguments: the job, DJL or DL4J (DJL); {@code quick} for a run that only shows whether it
 * works. Exit status 1 if the median error is above {@value #MEDIAN_BAR} %, the largest error is
 * above {@value #WORST_BAR} %, or the profile costs more than a tenth of measuring the table; 2 if
 * nothing can be measured.
 */
public final class DemandBenchmark {
  private static final double MEDIAN_BAR = 3;
  private static final double WORST_BAR = 10;
  private static final double COST_BAR = 0.1;
  private static final int ROUNDS = 5;
  private static final int TURN_SECONDS = 3;
  private static final int WARM_EPOCHS = 1;
  private static final int SIDE = 180;
  private static final double GIB = 1L << 30;
  private static final double MB = 1e6;
  private static final double PERCENT = 100;

  /**
   * Bytes per second: slow enough to limit the job without a cache, but not with most items cached.
   */
  private static final long DISK = 12_000_000;

  /** Steps of a computation of about 100 ms, which shows the machine's speed. */
  private static final int PROBE = 60_000_000;

  private final Checkout checkout = Checkout.find();
  private final CoordlTool coordl = new CoordlTool(checkout);
  private final Example library;
  private final boolean quick;
  private final Path work;
  private final SlowStorage storage;
  private final long bytes;
  private final Deque<AutoCloseable> toClose = new ArrayDeque<>();

  /**
   * A point of the sweep.
   *
   * @param cpus CPUs in its set
   * @param quota cores by quota, 0 for none
   * @param percent of the data set that the cache holds
   * @param disk bytes per second
   */
  private record Point(String what, int cpus, double quota, int percent, long disk) {
    double cores() {
      return quota > 0 ? quota : cpus;
    }
  }

  /** A point with its job. */
  private static final class Running {
    final Point point;
    final TurnTaker job;
    final long startNanos; // Time to start the job and fill its cache.
    final List<Double> rates = new ArrayList<>(); // Samples per second, by turn.
    long turnNanos; // Total time of all turns.

    Running(Point point, TurnTaker job, long startNanos) {
      this.point = point;
      this.job = job;
      this.startNanos = startNanos;
    }

    double seconds() {
      return (startNanos + (double) turnNanos / Math.max(1, rates.size())) / 1e9;
    }
  }

  private DemandBenchmark(Example library, boolean quick, Path work, SlowStorage storage)
      throws IOException {
    this.library = library;
    this.quick = quick;
    this.work = work;
    this.storage = storage;
    bytes = SlowStorage.size(storage.directory());
  }

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws Exception {
    List<String> words = new ArrayList<>(List.of(args));
    boolean quick = words.remove("quick");
    Example library = words.isEmpty() ? Example.DJL : library(words.remove(0));
    if (library == null || !words.isEmpty()) {
      System.out.println(
          "Not measured: the arguments are " + List.of(args) + ", expected [DJL|DL4J] [quick].");
      System.exit(2);
      return;
    }
    List<String> missing = SlowStorage.missing();
    if (!missing.isEmpty()) {
      System.out.println("Not measured: slow storage needs " + String.join(", ", missing) + ".");
      System.exit(2);
    }
    Checkout checkout = Checkout.find();
    Path work = Files.createDirectories(checkout.work("demand"));
    Path pictures = Bitmaps.make(checkout, work, quick ? 200 : 1000, SIDE);
    boolean right;
    try (SlowStorage storage = new SlowStorage(work, pictures, DISK)) {
      right = new DemandBenchmark(library, quick, work, storage).measure();
    }
    System.out.println("made by: " + Commands.of(checkout, DemandBenchmark.class, args));
    System.exit(right || quick ? 0 : 1);
  }

  private static @Nullable Example library(String name) {
    for (Example each : Example.values()) {
      if (each.name().equals(name)) {
        return each;
      }
    }
    return null;
  }

  /** Returns the points; those with a quota only if this machine supports quotas. */
  private static List<Point> points(boolean quick) {
    List<Point> points = new ArrayList<>();
    points.add(new Point("2 cores (set)", 2, 0, 100, DISK));
    String missing = CoreQuota.missing();
    if (missing.isEmpty()) {
      points.add(new Point("0.5 cores (quota)", 2, 0.5, 100, DISK));
    } else {
      System.out.println("Points with a quota are not measured: they need " + missing + ".");
    }
    points.add(new Point("0 % in memory", 2, 0, 0, DISK));
    if (quick) {
      return points;
    }
    points.add(new Point("1 core (set)", 1, 0, 100, DISK));
    if (missing.isEmpty()) {
      points.add(new Point("1 core (quota)", 2, 1, 100, DISK));
      points.add(new Point("1.5 cores (quota)", 2, 1.5, 100, DISK));
    }
    points.add(new Point("25 % in memory", 2, 0, 25, DISK));
    points.add(new Point("50 % in memory", 2, 0, 50, DISK));
    points.add(new Point("75 % in memory", 2, 0, 75, DISK));
    points.add(new Point("25 % in memory, half the disk", 2, 0, 25, DISK / 2));
    return points;
  }

  private boolean measure() throws Exception {
    System.out.printf(
        Locale.ROOT,
        "%s, %.1f MB on a disk of %.0f MB/s, %s%n",
        library,
        bytes / MB,
        DISK / MB,
        Jdks.running());
    double before = probe();
    long begin = System.nanoTime();
    List<String> recordings = profile();
    double profileSeconds = (System.nanoTime() - begin) / 1e9;
    double after = probe();
    List<Running> jobs = new ArrayList<>();
    List<Double> probes = new ArrayList<>();
    try {
      for (Point point : points(quick)) {
        jobs.add(start(point));
      }
      int rounds = quick ? 1 : ROUNDS;
      List<Running> order = new ArrayList<>(jobs);
      for (int round = 1; round <= rounds; round++) {
        probes.add(Double.valueOf(probe()));
        for (Running job : order) {
          turn(job);
        }
        System.out.printf(Locale.ROOT, "  round %d of %d: %.0f s%n", round, rounds, seconds(begin));
        Collections.reverse(order);
      }
    } finally {
      while (!toClose.isEmpty()) {
        toClose.pop().close();
      }
    }
    System.out.printf(
        Locale.ROOT,
        "A fixed computation took %.1f ms before the profile, %.1f after it, and %.1f (%.1f to"
            + " %.1f) in the rounds.%n",
        before,
        after,
        Pairs.median(probes),
        Pairs.min(probes),
        Collections.max(probes));
    return judge(demand(recordings), demand(recordings, "--quota"), jobs, profileSeconds);
  }

  private static double seconds(long begin) {
    return (System.nanoTime() - begin) / 1e9;
  }

  /** Returns the milliseconds of a fixed computation. */
  private static double probe() {
    long begin = System.nanoTime();
    long number = begin | 1;
    for (int i = 0; i < PROBE; i++) {
      number = number * 6_364_136_223_846_793_005L + 1_442_695_040_888_963_407L;
    }
    // Uses the result; otherwise the JIT compiler would remove the computation.
    return (System.nanoTime() - begin + (number == 0 ? 1 : 0)) / 1e6;
  }

  /** Profiles the job and returns the recordings. */
  private List<String> profile() throws IOException, InterruptedException {
    String name = "profile-" + library;
    for (Path old : recordings(name)) {
      Files.delete(old);
    }
    ChildJvm profiling =
        coordl.profiling(
            work.resolve(name + ".jfr"), job(0), "--fewer-cores", "--steps", quick ? "10" : "100");
    System.out.println(
        profiling
            .run()
            .orFail("coordl profile")
            .out()
            .lines()
            .filter(line -> !line.startsWith("epoch "))
            .collect(Collectors.joining("\n")));
    List<String> made = recordings(name).stream().map(Path::toString).toList();
    List<String> command = new ArrayList<>(List.of("demand"));
    command.addAll(made);
    System.out.println(coordl.run(command.toArray(String[]::new)));
    return made;
  }

  private DemandPoints demand(List<String> recordings, String... options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("demand", "--json"));
    command.addAll(List.of(options));
    command.addAll(recordings);
    return DemandPoints.of(
        JsonMapper.shared().readTree(coordl.run(command.toArray(String[]::new))));
  }

  private List<Path> recordings(String name) throws IOException {
    List<Path> all = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(work, name + "*.jfr")) {
      files.forEach(all::add);
    }
    Collections.sort(all);
    return all;
  }

  /** Returns the program, with {@code percent} % of the data set in its cache. */
  private ChildJvm job(int percent) throws IOException {
    String epochs = "100000";
    String folder = storage.directory().toString();
    ChildJvm job =
        library == Example.DJL
            ? Example.DJL
                .program(checkout, Jdks.running(), "example.loader.DjlEmulated")
                .args(folder, epochs, "4", "25", "8", "0", "320")
            : Example.DL4J
                .program(checkout, Jdks.running(), "example.loader.Dl4jSteps")
                .args(folder, epochs, "224", "8", "8");
    job.classPath(checkout.testPrograms());
    if (percent > 0) {
      // The whole data set needs room for the index beside its bytes.
      long size = percent == 100 ? bytes + bytes / 8 + (16 << 20) : bytes * percent / 100;
      job.agent(checkout.agentJar(), "record=off,summary=off,cache=minio,cache.size=" + size);
    }
    return job;
  }

  /** Starts a job and pauses it once its cache is full and its code compiled. */
  private Running start(Point point) throws IOException, InterruptedException {
    long begin = System.nanoTime();
    storage.rate(0); // No limit, so that caches fill quickly.
    ChildJvm program = job(point.percent);
    if (point.quota > 0) {
      CoreQuota quota = new CoreQuota();
      toClose.push(quota);
      quota.cores(point.quota);
      program.wrapper(quota.wrapper());
    }
    if (point.cpus == 1) {
      program.wrapper(List.of("taskset", "-c", "0"));
    }
    TurnTaker job = new TurnTaker(point.what, program);
    toClose.push(job);
    for (int epoch = 1; epoch <= WARM_EPOCHS; epoch++) {
      job.await("epoch ");
    }
    job.pause();
    Running running = new Running(point, job, System.nanoTime() - begin);
    System.out.printf(
        Locale.ROOT, "  %s: under way after %.1f s%n", point.what, running.startNanos / 1e9);
    return running;
  }

  /** Lets a job run for whole epochs. */
  private void turn(Running running) throws IOException, InterruptedException {
    storage.rate(running.point.disk);
    long begin = System.nanoTime();
    running.job.resume();
    int epochs = 0;
    double perSample = 0;
    do {
      String line = String.valueOf(running.job.await("epoch ").text());
      String[] words = line.split(" ", -1); // epoch 3: 90.52 samples/s
      perSample += 1 / Double.parseDouble(words[2]);
      epochs++;
    } while (System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(TURN_SECONDS));
    running.job.pause();
    running.turnNanos += System.nanoTime() - begin;
    running.rates.add(Double.valueOf(epochs / perSample));
  }

  /** Compares the measurements with both tables, for CPU sets and for quotas. */
  private boolean judge(
      DemandPoints demand, DemandPoints quotas, List<Running> jobs, double profileSeconds) {
    TextTable table = new TextTable("point", "predicted", "measured", "±", "error %");
    List<Double> errors = new ArrayList<>();
    List<Double> costs = new ArrayList<>();
    for (Running job : jobs) {
      Point point = job.point;
      double memory = Math.min(demand.allMemory(), bytes / GIB * point.percent / PERCENT);
      double predicted =
          (point.quota > 0 ? quotas : demand)
              .speed(
                  point.cores(),
                  point.percent == 100 ? demand.allMemory() : memory,
                  point.disk / MB);
      double measured = Pairs.median(job.rates);
      double error = PERCENT * (predicted / measured - 1);
      errors.add(Double.valueOf(Math.abs(error)));
      costs.add(Double.valueOf(job.seconds()));
      table.row(
          point.what,
          number(predicted),
          number(measured),
          job.rates.size() < 2 ? "" : number(Interval.of(job.rates).halfWidth()),
          String.format(Locale.ROOT, "%+.1f", error));
    }
    double median = Pairs.median(errors);
    double worst = Collections.max(errors);
    double grid = demand.count() * Pairs.median(costs);
    double cost = profileSeconds / grid;
    System.out.printf(
        "%nsamples/s of %s, predicted by coordl demand and measured%n%s", library, table);
    System.out.printf(
        Locale.ROOT,
        "error: median %.1f %% (bar %.0f), worst %.1f %% (bar %.0f)%ncost: the profile took %.0f s;"
            + " a point takes %.1f s, the %d points of the table %.0f s: %.1f %% (bar %.0f; for the"
            + " table's %d points of cores and memory alone, %.1f %%)%n",
        median,
        MEDIAN_BAR,
        worst,
        WORST_BAR,
        profileSeconds,
        Pairs.median(costs),
        demand.count(),
        grid,
        PERCENT * cost,
        PERCENT * COST_BAR,
        demand.count() / demand.storageMbs().size(),
        PERCENT * cost * demand.storageMbs().size());
    return median <= MEDIAN_BAR && worst <= WORST_BAR && cost <= COST_BAR;
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
