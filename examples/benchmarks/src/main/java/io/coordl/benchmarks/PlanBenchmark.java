package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Executes two plans: four jobs share two cores (quotas of control groups), 2 GiB of cache and a
 * disk of {@value #DISK_MBS} MB/s, once by GPU-proportional shares and once by TUNE. Each plan is
 * executed twice (with {@code quick}, once). Each job runs with its share from {@code coordl plan}.
 * Compares the time of each job, the mean and the makespan with the prediction of {@code coordl
 * simulate}.
 *
 * <p>The jobs ({@code example.loader.DjlDemand}) wait instead of using a GPU. One is bound by
 * cores, one by memory for its items, one by storage, one by none of these. Each is profiled first
 * ({@code coordl profile}); its demand is derived from the profile alone ({@code coordl demand}).
 *
 * <p>Jobs of one allocation start together, fill their caches, and are paused ({@link TurnTaker}).
 * They are then resumed together; measuring begins {@value #SETTLING_SECONDS} s later, when the
 * batches that were ready are used up. Neither measurement nor prediction includes starting and
 * filling. The disk is fast while caches fill and while a profile loads a data set into memory.
 *
 * <p>Argument: {@code quick} for small data sets and short jobs, to test the benchmark itself. Exit
 * status 1 if a mean or a makespan differs by more than {@value #BAR} % from the predicted one (not
 * with {@code quick}); 2 if nothing can be measured.
 */
public final class PlanBenchmark {
  private static final double BAR = 10;
  private static final int DISK_MBS = 26;

  /** Disk rate of a profile: half the disk's, because TUNE shares the disk between two jobs. */
  private static final int PROFILE_MBS = 13;

  private static final int CORES = 2;
  private static final double GIB = 1L << 30;
  private static final long MB = 1_000_000;
  private static final int BATCH = 8;

  /**
   * Minimum disk rate of a job, in MB/s: 0 would mean no limit, and much less than this would all
   * but stop the job.
   */
  private static final double MIN_MBS = 1;

  /** Time in which the batches that were ready are used up. */
  private static final int SETTLING_SECONDS = 5;

  /** A smaller cache counts as none. */
  private static final long MIN_CACHE = 1 << 20;

  private final Checkout checkout = Checkout.find();
  private final CoordlTool coordl = new CoordlTool(checkout);
  private final Path work;
  private final List<Job> jobs;
  private final boolean quick;
  private final double cacheGib;
  private final Deque<AutoCloseable> toClose = new ArrayDeque<>();
  private final List<SlowStorage> disks = new ArrayList<>();

  /**
   * A job.
   *
   * @param files number of files in its data set
   * @param fileBytes bytes per file
   * @param threads number of preparing threads
   * @param stepMillis milliseconds per step
   * @param cpuMillis CPU milliseconds to prepare a sample
   * @param steps number of steps
   */
  private record Job(
      String name,
      int files,
      int fileBytes,
      int threads,
      int stepMillis,
      double cpuMillis,
      int steps) {}

  private enum Allocation {
    PROPORTIONAL,
    TUNE;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The share of a job. */
  private record Share(double cores, double memoryGib, double storageMbs) {}

  /** Times of all jobs, in seconds. */
  private record Times(List<Double> jobs) {
    double makespan() {
      return Collections.max(jobs);
    }

    double mean() {
      return jobs.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
    }
  }

  /**
   * A plan with its prediction and its runs.
   *
   * @param shares shares of the jobs in the plan
   * @param predicted times predicted by the simulation
   * @param jobs the started jobs, paused with full caches
   * @param quotas their core quotas
   * @param runs runs measured so far
   */
  private record Plan(
      Allocation allocation,
      List<Share> shares,
      Times predicted,
      List<TurnTaker> jobs,
      List<CoreQuota> quotas,
      List<Times> runs) {
    double measured(ToDoubleFunction<Times> figure) {
      return Pairs.median(runs.stream().mapToDouble(figure).boxed().toList());
    }
  }

  private PlanBenchmark(Path work, boolean quick) {
    this.work = work;
    this.quick = quick;
    int divisor = quick ? 8 : 1;
    cacheGib = 2.0 / divisor;
    jobs =
        List.of(
            new Job("cores", 512, 4 << 10, 2, 100, 10, 200 / divisor),
            new Job("memory", 1536 / divisor, 1 << 20, 1, 200, 0.5, 45 / divisor),
            new Job("storage", 2048 / divisor, 1 << 20, 1, 500, 0.5, 40 / divisor),
            new Job("nothing", 512, 4 << 10, 1, 200, 1, 150 / divisor));
  }

  /** Runs the benchmark; the class description lists the argument. */
  public static void main(String[] args) throws Exception {
    boolean quick = List.of(args).equals(List.of("quick"));
    if (args.length > 0 && !quick) {
      System.out.println(
          "Not measured: the arguments are " + List.of(args) + ", expected none or quick.");
      System.exit(2);
    }
    List<String> missing = new ArrayList<>(SlowStorage.missing());
    if (!CoreQuota.missing().isEmpty()) {
      missing.add(CoreQuota.missing());
    }
    if (!missing.isEmpty()) {
      System.out.println("Not measured: this needs " + String.join(", ", missing) + ".");
      System.exit(2);
    }
    Checkout checkout = Checkout.find();
    PlanBenchmark benchmark =
        new PlanBenchmark(Files.createDirectories(checkout.work("plan")), quick);
    boolean right;
    try {
      right = benchmark.measure();
    } finally {
      while (!benchmark.toClose.isEmpty()) {
        benchmark.toClose.pop().close();
      }
    }
    System.out.println("made by: " + Commands.of(checkout, PlanBenchmark.class, args));
    System.exit(right || quick ? 0 : 1);
  }

  private boolean measure() throws Exception {
    long begin = System.nanoTime();
    for (Job job : jobs) {
      SlowStorage disk = new SlowStorage(disk(job), data(job), PROFILE_MBS * MB);
      toClose.push(disk);
      disks.add(disk);
    }
    print(begin, "the data sets are on their disks");
    List<Path> demands = new ArrayList<>();
    for (int i = 0; i < jobs.size(); i++) {
      demands.add(demand(jobs.get(i), disks.get(i)));
      print(begin, "profiled the job bound by " + jobs.get(i).name);
    }
    Plan proportional = plan(demands, Allocation.PROPORTIONAL);
    Plan tune = plan(demands, Allocation.TUNE);
    for (Plan each : List.of(proportional, tune)) {
      start(each);
      print(begin, each.allocation.word() + ": started, caches full");
    }
    for (Plan each :
        quick ? List.of(proportional, tune) : List.of(proportional, tune, tune, proportional)) {
      Times times = execute(each);
      each.runs.add(times);
      print(begin, each.allocation.word() + ": executed in " + number(times.makespan()) + " s");
    }
    return judge(proportional, tune);
  }

  private Plan plan(List<Path> demands, Allocation allocation)
      throws IOException, InterruptedException {
    Plan plan =
        new Plan(
            allocation,
            planned(demands, allocation),
            simulated(demands, allocation),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>());
    System.out.printf(
        "%s, simulated: %s s%n",
        allocation.word(), plan.predicted.jobs.stream().map(PlanBenchmark::number).toList());
    return plan;
  }

  private static void print(long begin, String what) {
    System.out.printf(Locale.ROOT, "  %4.0f s: %s%n", (System.nanoTime() - begin) / 1e9, what);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private Path disk(Job job) throws IOException {
    return Files.createDirectories(work.resolve("disk-" + job.name));
  }

  /** Returns a job's data set: sparse files of zeros. */
  private Path data(Job job) throws IOException {
    Path folder =
        Files.createDirectories(
            work.resolve("data-" + job.name + "-" + job.files + "-" + job.fileBytes));
    for (int i = 0; i < job.files; i++) {
      try (RandomAccessFile file =
          new RandomAccessFile(folder.resolve("item-" + i).toFile(), "rw")) {
        file.setLength(job.fileBytes);
      }
    }
    return folder;
  }

  private ChildJvm program(Job job, SlowStorage disk) throws IOException {
    return Example.DJL
        .program(checkout, Jdks.running(), "example.loader.DjlDemand")
        .classPath(checkout.testPrograms())
        .args(
            disk.directory().toString(),
            "100000",
            Integer.toString(job.threads),
            Integer.toString(job.stepMillis),
            Integer.toString(BATCH),
            Double.toString(job.cpuMillis));
  }

  /** Profiles a job and returns the file with its demand. */
  private Path demand(Job job, SlowStorage disk) throws IOException, InterruptedException {
    Path recording = work.resolve(job.name + ".jfr");
    coordl
        .profiling(recording, program(job, disk), "--steps", quick ? "10" : "20")
        .echo(
            line -> {
              if (line.contains("profile: ")) {
                setRate(disk, line.contains("profile: loading"));
              }
            })
        .run()
        .orFail("coordl profile");
    String text = coordl.run("demand", recording.toString());
    System.out.println(text.lines().skip(1).findFirst().orElse(""));
    return Files.writeString(
        work.resolve(job.name + ".json"), coordl.run("demand", recording.toString(), "--json"));
  }

  private static void setRate(SlowStorage disk, boolean loading) {
    try {
      disk.rate(loading ? 0 : PROFILE_MBS * MB);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the job times that a simulation of the cluster predicts. */
  private Times simulated(List<Path> demands, Allocation allocation)
      throws IOException, InterruptedException {
    StringBuilder trace = new StringBuilder("job,model,arrival_s,iterations,gpus\n");
    for (int i = 0; i < jobs.size(); i++) {
      trace.append(i + "," + jobs.get(i).name + ",0," + jobs.get(i).steps + ",1\n");
    }
    Path file = Files.writeString(work.resolve("trace.csv"), trace);
    JsonNode run =
        JsonMapper.shared()
            .readTree(
                coordl.run(
                    "simulate",
                    "--jobs",
                    file.toString(),
                    "--models",
                    String.join(",", demands.stream().map(Path::toString).toArray(String[]::new)),
                    "--cluster",
                    String.format(
                        Locale.ROOT,
                        "1x%d,cores=%d,memory=%s,storage=%d",
                        jobs.size(),
                        CORES,
                        cacheGib,
                        DISK_MBS),
                    "--allocation",
                    allocation.word(),
                    // One round: each job retains its share, even if others have ended.
                    "--round",
                    "100000",
                    "--restart",
                    "0",
                    "--json"));
    List<Double> times = new ArrayList<>();
    run.path("jobs").forEach(job -> times.add(job.path("jctSeconds").doubleValue()));
    return new Times(times);
  }

  /** Returns the shares that the plan assigns to the jobs. */
  private List<Share> planned(List<Path> demands, Allocation allocation)
      throws IOException, InterruptedException {
    Path cluster =
        Files.writeString(
            work.resolve("cluster.yaml"),
            String.format(
                Locale.ROOT,
                "pools:%n  - gpu: none%n    servers: 1%n    gpusPerServer: %d%n    cores: %d%n"
                    + "    memory: %.0fMiB%n    storage: %dMB/s%n",
                jobs.size(),
                CORES,
                cacheGib * 1024,
                DISK_MBS));
    List<String> command = new ArrayList<>(List.of("plan", cluster.toString()));
    demands.forEach(demand -> command.add(demand.toString()));
    command.addAll(List.of("--allocation", allocation.word(), "--json"));
    JsonNode plan = JsonMapper.shared().readTree(coordl.run(command.toArray(String[]::new)));
    List<Share> shares = new ArrayList<>();
    for (JsonNode job : plan.path("pools").path(0).path("jobs")) {
      shares.add(
          new Share(
              job.path("cores").doubleValue(),
              job.path("memoryGib").doubleValue(),
              job.path("storageMbs").doubleValue()));
    }
    return shares;
  }

  /** Starts all jobs and pauses them once their caches are full. */
  private void start(Plan plan) throws IOException, InterruptedException {
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      disks.get(i).rate(0);
      CoreQuota quota = new CoreQuota();
      toClose.push(quota);
      plan.quotas.add(quota);
      ChildJvm program = program(job, disks.get(i)).args("fill").wrapper(quota.wrapper());
      long cache = Math.round(plan.shares.get(i).memoryGib * GIB);
      if (cache >= MIN_CACHE) {
        program.agent(
            checkout.agentJar(), "record=off,summary=off,cache=minio,cache.size=" + cache);
      }
      TurnTaker taker = new TurnTaker(plan.allocation.word() + ", job " + job.name, program);
      toClose.push(taker);
      plan.jobs.add(taker);
    }
    for (TurnTaker job : plan.jobs) {
      job.await("epoch 1");
      job.pause();
    }
  }

  /** Resumes all jobs together, each with its share, until each has finished its steps. */
  private Times execute(Plan plan) throws IOException, InterruptedException {
    for (int i = 0; i < jobs.size(); i++) {
      Share share = plan.shares.get(i);
      plan.quotas.get(i).cores(share.cores);
      disks.get(i).rate(Math.round(Math.max(MIN_MBS, share.storageMbs) * MB));
    }
    for (TurnTaker job : plan.jobs) {
      job.resume();
    }
    TimeUnit.SECONDS.sleep(SETTLING_SECONDS);
    long begin = System.nanoTime();
    ExecutorService pool = Executors.newFixedThreadPool(jobs.size());
    try {
      List<Future<Double>> ends = new ArrayList<>();
      for (int i = 0; i < jobs.size(); i++) {
        TurnTaker taker = plan.jobs.get(i);
        int steps = jobs.get(i).steps;
        Callable<Double> end =
            () -> {
              long last = begin;
              for (int step = 0; step < steps; ) {
                last = taker.await("step ").nanos();
                step += last > begin ? 1 : 0;
              }
              taker.pause();
              return (last - begin) / 1e9;
            };
        ends.add(pool.submit(end));
      }
      List<Double> seconds = new ArrayList<>();
      for (Future<Double> end : ends) {
        seconds.add(end.get());
      }
      return new Times(seconds);
    } catch (ExecutionException e) {
      throw new IllegalStateException("A job did not finish its steps", e.getCause());
    } finally {
      pool.shutdownNow();
    }
  }

  private boolean judge(Plan proportional, Plan tune) {
    TextTable table =
        new TextTable(
            "allocation",
            "time of",
            "cores",
            "GiB",
            "MB/s",
            "simulated s",
            "first s",
            "second s",
            "largest error %");
    double worst = 0;
    for (Plan plan : List.of(proportional, tune)) {
      String word = plan.allocation.word();
      for (int i = 0; i < jobs.size(); i++) {
        int job = i;
        Share share = plan.shares.get(i);
        row(
            table,
            plan,
            List.of(
                word,
                "bound by " + jobs.get(i).name,
                String.format(Locale.ROOT, "%.2f", share.cores),
                String.format(Locale.ROOT, "%.2f", share.memoryGib),
                number(share.storageMbs)),
            times -> times.jobs.get(job));
      }
      worst = Math.max(worst, row(table, plan, List.of(word, "mean", "", "", ""), Times::mean));
      worst =
          Math.max(worst, row(table, plan, List.of(word, "makespan", "", "", ""), Times::makespan));
    }
    System.out.printf("%nSeconds of %d jobs, simulated and executed%n%s", jobs.size(), table);
    System.out.printf(
        Locale.ROOT,
        "tune against proportional: mean %.2f times as fast (simulated %.2f), makespan %.2f"
            + " (%.2f)%nlargest error of a mean or makespan: %.1f %% (bar %.0f)%n",
        proportional.measured(Times::mean) / tune.measured(Times::mean),
        proportional.predicted.mean() / tune.predicted.mean(),
        proportional.measured(Times::makespan) / tune.measured(Times::makespan),
        proportional.predicted.makespan() / tune.predicted.makespan(),
        worst,
        BAR);
    return worst <= BAR;
  }

  /** Adds a row and returns the largest error of its runs in percent. */
  private static double row(
      TextTable table, Plan plan, List<String> begin, ToDoubleFunction<Times> figure) {
    double predicted = figure.applyAsDouble(plan.predicted);
    double worst = 0;
    List<String> cells = new ArrayList<>(begin);
    cells.add(number(predicted));
    for (Times run : plan.runs) {
      double error = 100 * (predicted / figure.applyAsDouble(run) - 1);
      worst = Math.abs(error) > Math.abs(worst) ? error : worst;
      cells.add(number(figure.applyAsDouble(run)));
    }
    if (plan.runs.size() < 2) {
      cells.add("");
    }
    cells.add(String.format(Locale.ROOT, "%+.1f", worst));
    table.row(cells.toArray(String[]::new));
    return Math.abs(worst);
  }
}
