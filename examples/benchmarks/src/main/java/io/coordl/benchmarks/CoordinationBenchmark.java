package io.coordl.benchmarks;

import io.coordl.harness.BatchLogs;
import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import io.coordl.harness.RecordingSummary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Measures how much jobs on one host gain when each batch is prepared only once for all of them.
 * Runs 1, 2 and 4 jobs of the DJL and the DL4J example at the same time, with large pictures and a
 * small network, so that data dominate: plain; with a common raw cache; with a common store of
 * decoded pictures; coordinated. Throughput is the sum over all jobs, after warm-up and until the
 * first job ends; speed-ups are relative to the plain jobs of the same repetition.
 *
 * <p>The ideal is the most that C cores allow, computed from the times of one observed job alone on
 * the machine: p to prepare a batch (fetch, decode, transforms, assembly), c to compute it. N
 * batches of J jobs take
 *
 * <ul>
 *   <li>plain: N max(s(p, c), J (p + c) / C); each job prepares all batches
 *   <li>coordinated: N max(s(p / J, c), (p + J c) / C); each batch is prepared once, computed J
 *       times
 * </ul>
 *
 * where s(p, c), the time of one job alone, is p + c for DJL, which prepares on the training
 * thread, and max(p, c) for DL4J, which prepares on another. The first term matters only if the
 * jobs cannot keep all cores busy. The ideal speed-up is the quotient of the two: J if all work
 * were preparation, 1 for one job. It assumes that sharing is free. A DJL job can exceed it,
 * because coordinated batches are also prepared ahead.
 *
 * <p>CPU seconds are the sum over all jobs, without JIT compilers, in the same epochs except the
 * last. Ideally, plain jobs use J (p + c) / (p + J c) times the CPU seconds of coordinated ones, on
 * any number of cores. CPU seconds hardly depend on other load, but do not show waits.
 *
 * <p>Exit status 1 unless every job's log shows each picture exactly once per epoch and the
 * throughput of coordinated jobs reaches {@value #BAR} of the ideal. A note reports coordinated
 * jobs that did not get the same batches, because a job prepared a late batch itself. Arguments:
 * repetitions (3), DJL or DL4J (both), numbers of jobs (1 2 4) and names of policies as in this
 * class (all); plain jobs and one observed job always run.
 */
public final class CoordinationBenchmark {
  /** Warm-up of a job that prepares all its batches itself. */
  private static final int WARM_UP_EPOCHS = 10;

  private static final int MEASURED_EPOCHS = 5;
  private static final List<Integer> JOBS = List.of(1, 2, 4);
  private static final int CLASSES = 4;
  private static final String PIXELS = "640x480";

  /** Share of the ideal that must be reached. */
  private static final double BAR = 0.85;

  private static final int CORES = Runtime.getRuntime().availableProcessors();

  /** The policies under which the jobs run. */
  private enum Policy {
    PLAIN("plain", ""),
    OBSERVED("observed", "summary=off"),
    CACHE("raw cache", "summary=off,cache=minio,cache.scope=host"),
    DECODED("decoded store", "summary=off,decoded=share,cache.scope=host"),
    COORDINATED("coordinated", "summary=off,prep=coordinate,prep.jobs=");

    private final String label;
    private final String arguments;

    Policy(String label, String arguments) {
      this.label = label;
      this.arguments = arguments;
    }
  }

  /** The runs of one number of jobs under one policy; the lists have one value per repetition. */
  private static final class Cell {
    private final List<Double> samplesPerSecond = new ArrayList<>();
    private final List<Double> cpuPerEpoch = new ArrayList<>();
    private double openedPerEpoch = Double.NaN;
    private double decodedPerEpoch = Double.NaN;
  }

  private final Checkout checkout = Checkout.find();
  private final Path work = checkout.work("coordination");
  private final Example example;
  private final int perClass;
  private final List<Integer> jobCounts;
  private final List<Policy> compared;
  private final List<String> arguments;
  private final List<Double> prep = new ArrayList<>();
  private final List<Double> compute = new ArrayList<>();
  private final Map<Integer, Map<Policy, Cell>> cells = new TreeMap<>();
  private final List<String> notes = new ArrayList<>();
  private final List<String> wrong = new ArrayList<>();
  private int runs;
  private boolean isBelowBar;

  private CoordinationBenchmark(Example example, List<Integer> jobCounts, List<Policy> compared) {
    this.example = example;
    this.jobCounts = jobCounts;
    this.compared = compared;
    // 50 batches, a few seconds per epoch for one job. At the end of an epoch only the last batches
    // are in preparation; with fewer batches, cores would be idle for a larger share of the time.
    perClass = example == Example.DJL ? 100 : 200;
    arguments =
        example == Example.DJL
            ? List.of("--batch", "8", "--size", "24", "--layers", "8")
            : List.of("--batch", "16", "--size", "48");
  }

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int repetitions = args.length > 0 ? Integer.parseInt(args[0]) : 3;
    boolean right = true;
    List<String> more = List.of(args).subList(Math.min(2, args.length), args.length);
    List<Integer> jobs =
        more.stream().filter(each -> each.matches("\\d+")).map(Integer::valueOf).toList();
    List<Policy> policies =
        Stream.of(Policy.values()).filter(each -> more.contains(each.name())).toList();
    for (Example example : Example.values()) {
      if (args.length < 2 || args[1].equals(example.name())) {
        right &=
            new CoordinationBenchmark(
                    example,
                    jobs.isEmpty() ? JOBS : jobs,
                    policies.isEmpty() ? List.of(Policy.values()) : policies)
                .measure(repetitions);
      }
    }
    System.out.println(
        "made by: " + Commands.of(Checkout.find(), CoordinationBenchmark.class, args));
    System.exit(right ? 0 : 1);
  }

  private boolean measure(int repetitions) throws IOException, InterruptedException {
    Files.createDirectories(work);
    Pictures.make(
        checkout, images(), Integer.toString(CLASSES), Integer.toString(perClass), PIXELS);
    // Unpacks DJL's natives; otherwise concurrent jobs would race to do so.
    job("warm-up", 0).run().orFail("The warm-up of the " + example + " example");
    for (int repetition = 0; repetition < repetitions; repetition++) {
      Set<Integer> numbers = new TreeSet<>(jobCounts);
      numbers.add(1);
      for (int jobs : numbers) {
        List<Policy> policies = new ArrayList<>(List.of(Policy.PLAIN));
        if (jobs == 1) {
          policies.add(Policy.OBSERVED);
        }
        if (jobCounts.contains(jobs)) {
          compared.stream()
              .filter(each -> each.compareTo(Policy.OBSERVED) > 0)
              .forEach(policies::add);
        }
        // Spreads other load over the policies.
        Collections.rotate(policies, repetition);
        for (Policy policy : policies) {
          run(repetition, jobs, policy);
        }
      }
    }
    System.out.print(report(repetitions));
    notes.forEach(sentence -> System.out.println("  NOTE: " + sentence));
    wrong.forEach(sentence -> System.out.println("  WRONG: " + sentence));
    return wrong.isEmpty() && !isBelowBar;
  }

  private Path images() {
    return work.resolve("images-" + example);
  }

  private Path log(String name) {
    return work.resolve(name + ".log");
  }

  private ChildJvm job(String name, int epochs) throws IOException {
    return example
        .program(checkout, Jdks.running())
        .directory(work)
        .args("--data", images().toString(), "--log", log(name).toString(), "--seed", "1")
        .args("--epochs", Integer.toString(epochs))
        .args(arguments.toArray(new String[0]));
  }

  /**
   * Returns the number of warm-up epochs. Each of J coordinated jobs prepares one batch in J, so
   * the JIT compiler needs J times as many epochs; for DL4J, compiling takes tens of seconds.
   */
  private static int warmUp(int jobs, Policy policy) {
    return policy == Policy.COORDINATED ? jobs * WARM_UP_EPOCHS : WARM_UP_EPOCHS;
  }

  private static int epochs(int jobs, Policy policy) {
    return warmUp(jobs, policy) + MEASURED_EPOCHS;
  }

  private void run(int repetition, int jobs, Policy policy)
      throws IOException, InterruptedException {
    String group = "benchmark-" + ProcessHandle.current().pid() + "-" + runs++;
    List<String> names = new ArrayList<>();
    List<ChildJvm> children = new ArrayList<>();
    for (int i = 0; i < jobs; i++) {
      String name = example + "-" + policy + "-" + jobs + "-" + i;
      Files.deleteIfExists(log(name));
      ChildJvm child = job(name, epochs(jobs, policy));
      if (policy != Policy.PLAIN) {
        String own = policy.arguments + (policy == Policy.COORDINATED ? jobs : "");
        child.agent(checkout.agentJar(), own + ",group=" + group + ",record=" + recording(name));
      }
      names.add(name);
      children.add(child);
    }
    String what = example + ", " + jobs + " x " + policy.label;
    ConcurrentJobs together = ConcurrentJobs.run(what, children);
    double samples = together.epochsPerSecond(warmUp(jobs, policy)) * pictures();
    Cell cell = cell(jobs, policy);
    cell.samplesPerSecond.add(samples);
    // Without the last epoch: the job may end before its CPU time is read.
    cell.cpuPerEpoch.add(together.cpuPerEpoch(warmUp(jobs, policy), epochs(jobs, policy) - 1));
    System.out.printf(
        Locale.ROOT,
        "  repetition %d, %s: %.0f samples/s, %.2f CPU s an epoch%n",
        repetition + 1,
        what,
        samples,
        cell.cpuPerEpoch.get(repetition));
    check(what, policy, names, epochs(jobs, policy));
    if (policy != Policy.PLAIN) {
      count(cell, policy, names, epochs(jobs, policy));
    }
  }

  private int pictures() {
    return CLASSES * perClass;
  }

  private Path recording(String name) {
    return work.resolve(name + ".jfr");
  }

  private Cell cell(int jobs, Policy policy) {
    return cells
        .computeIfAbsent(jobs, key -> new EnumMap<>(Policy.class))
        .computeIfAbsent(policy, key -> new Cell());
  }

  private void check(String what, Policy policy, List<String> names, int epochs)
      throws IOException {
    for (String name : names) {
      Optional<String> error = BatchLogs.notOncePerEpoch(log(name), pictures(), epochs);
      error.ifPresent(sentence -> wrong.add(what + ": " + sentence));
      long same = BatchLogs.sameBatches(log(names.get(0)), log(name));
      if (policy == Policy.COORDINATED && same != BatchLogs.batches(log(name))) {
        notes.add(what + ": " + name + " shares only " + same + " batches with " + names.get(0));
      }
    }
  }

  private void count(Cell cell, Policy policy, List<String> names, int epochs)
      throws IOException, InterruptedException {
    double opened = 0;
    double decoded = 0;
    for (String name : names) {
      RecordingSummary summary = RecordingSummary.read(checkout.coordlJar(), recording(name));
      opened += summary.storageItems();
      decoded += (double) summary.decodes() / example.decodesPerPicture();
      if (policy == Policy.OBSERVED) {
        for (RecordingSummary.Epoch epoch : summary.epochs().subList(WARM_UP_EPOCHS, epochs)) {
          prep.add(epoch.prep() / 1e9);
          compute.add(epoch.compute() / 1e9);
        }
      }
    }
    cell.openedPerEpoch = opened / epochs;
    cell.decodedPerEpoch = decoded / epochs;
  }

  private String report(int repetitions) {
    double p = Pairs.median(prep);
    double c = Pairs.median(compute);
    TextTable table =
        new TextTable(
            "jobs",
            "epoch s",
            "samples/s of all",
            "x plain",
            "all runs",
            "ideal",
            "share of ideal",
            "CPU s/epoch",
            "plain/this",
            "share of ideal",
            "files read/epoch",
            "decodes/epoch");
    // Plain jobs read and decode as much as observed ones.
    Cell observed = cell(1, Policy.OBSERVED);
    StringBuilder bar = new StringBuilder();
    cells.forEach(
        (jobs, ofJobs) ->
            ofJobs.forEach(
                (policy, cell) -> {
                  Pairs pairs =
                      new Pairs(cell(jobs, Policy.PLAIN).samplesPerSecond, cell.samplesPerSecond);
                  double gain = Pairs.median(pairs.ratios());
                  double cpuGain =
                      Pairs.median(
                          new Pairs(cell.cpuPerEpoch, cell(jobs, Policy.PLAIN).cpuPerEpoch)
                              .ratios());
                  double ideal = seconds(jobs, p, c, false) / seconds(jobs, p, c, true);
                  boolean judged = policy == Policy.COORDINATED;
                  boolean plain = policy == Policy.PLAIN;
                  table.row(
                      jobs + " x " + policy.label,
                      number(2, jobs * pictures() / Pairs.median(cell.samplesPerSecond)),
                      number(0, Pairs.median(cell.samplesPerSecond)),
                      number(2, gain),
                      String.join(" ", pairs.ratios().stream().map(r -> number(2, r)).toList()),
                      judged ? number(2, ideal) : "-",
                      judged ? number(2, gain / ideal) : "-",
                      number(2, Pairs.median(cell.cpuPerEpoch)),
                      number(2, cpuGain),
                      judged ? number(2, cpuGain / jobs / (p + c) * (p + jobs * c)) : "-",
                      number(0, plain ? jobs * observed.openedPerEpoch : cell.openedPerEpoch),
                      number(0, plain ? jobs * observed.decodedPerEpoch : cell.decodedPerEpoch));
                  if (judged && jobs > 1) {
                    isBelowBar |= gain / ideal < BAR;
                    bar.append(
                        String.format(
                            Locale.ROOT,
                            "  %d jobs, coordinated: %.2f of the ideal (bar %.2f: %s)%n",
                            jobs,
                            gain / ideal,
                            BAR,
                            gain / ideal >= BAR ? "reached" : "not reached"));
                  }
                }));
    return String.format(
        Locale.ROOT,
        "%n%s example, %d pictures of %s, %s, %d cores; medians of %d repetitions; %d epochs"
            + " measured after %d warm-up epochs (J times as many if coordinated);%nreads and"
            + " decodes are totals of all jobs, averaged over all epochs.%nOne job alone: %.2f s an"
            + " epoch to prepare, %.2f s to compute: prep is %.0f %%; at 100 %%, the ideal would be"
            + " J.%n%s%s",
        example,
        pictures(),
        PIXELS,
        String.join(" ", arguments),
        CORES,
        repetitions,
        MEASURED_EPOCHS,
        WARM_UP_EPOCHS,
        p,
        c,
        100 * p / (p + c),
        table,
        bar);
  }

  /** Returns the ideal duration of an epoch in seconds, as defined in the class description. */
  private double seconds(int jobs, double p, double c, boolean coordinated) {
    double own = coordinated ? p / jobs : p;
    double alone = example == Example.DJL ? own + c : Math.max(own, c);
    return Math.max(alone, jobs * (own + c) / CORES);
  }

  private static String number(int digits, double value) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%." + digits + "f", value);
  }
}
