package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Compares loading without training, in samples/s, on one core and on two. Unmodified DJL and DL4J
 * programs load pictures (plain, with {@code decoded=share}, and with {@code
 * decoded=share,prefetch=2} if the agent has that) and a table (plain and with {@code
 * prepared=share}); PyTorch's DataLoader and torchvision load the same files. All programs take
 * turns; ratios compare runs of the same turn. Arguments, all optional: number of turns (default
 * 5); DJL, DL4J or csv, to run only that one; the jar of another version of the agent to compare
 * with.
 */
public final class LoaderBenchmark {
  private static final int CLASSES = 4;
  private static final int PER_CLASS = 150;
  private static final int EPOCHS = 8;
  private static final String SHARE = "decoded=share";
  private static final String AHEAD = SHARE + ",prefetch=2";
  private static final int[] CROPS = {64, 224};
  private static final String PREPARED = "prepared=share";
  private static final int COLUMNS = 1190;
  private static final int ROWS = 2000;

  /** A program pinned to {@code cores} cores, and its rates in each turn. */
  private record Row(String name, int cores, Program program, List<EpochRates> turns) {
    Row(String name, int cores, Program program) {
      this(name, cores, program, new ArrayList<>());
    }
  }

  /** A version of the agent. */
  private record Agent(String mark, Path jar) {}

  private interface Program {
    String run() throws IOException, InterruptedException;
  }

  /** Loaders that do the same work; if {@code compared}, the first is PyTorch's. */
  private record Group(boolean compared, List<Row> rows) {}

  private final Checkout checkout = Checkout.find();
  private final Path work = checkout.work("loader");
  private final DjlJob djl = new DjlJob(checkout, work);
  private final Optional<PyTorch> pyTorch = PyTorch.find();
  private final boolean canPrefetch = AgentHelp.of(checkout).has("prefetch");
  private final Agent agent = new Agent("", checkout.agentJar());
  private final List<Agent> agents = new ArrayList<>(List.of(agent));

  private LoaderBenchmark() throws IOException, InterruptedException {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int turns = args.length > 0 ? Integer.parseInt(args[0]) : 5;
    LoaderBenchmark benchmark = new LoaderBenchmark();
    if (args.length > 2) {
      benchmark.agents.add(new Agent(", other version", Path.of(args[2])));
    }
    benchmark.measure(turns, args.length > 1 ? args[1] : "");
    System.out.println("made by: " + Commands.of(benchmark.checkout, LoaderBenchmark.class, args));
  }

  private void measure(int turns, String only) throws IOException, InterruptedException {
    djl.makeImages(CLASSES, PER_CLASS);
    // Unpacks the natives, which would slow down the first run.
    djl.job(Jdks.running(), "warm-up", 0).run().orFail("The warm-up of the DJL example");
    System.out.printf(
        Locale.ROOT,
        "%s; %s; %s%n",
        Jdks.running(),
        pyTorch
            .map(PyTorch::versions)
            .orElse(
                "no PyTorch, so only the JVM side is measured"
                    + " (apt-get install -y python3-torch python3-torchvision)"),
        OtherLoad.machine());
    List<Group> groups = new ArrayList<>();
    for (int cores = 1; cores <= 2; cores++) {
      if (!only.equals("DL4J") && !only.equals("csv")) {
        for (int size : CROPS) {
          groups.add(djl(cores, size));
        }
      }
      if (!only.equals("DJL") && !only.equals("csv")) {
        groups.add(dl4j(cores));
      }
      if (only.isEmpty() || only.equals("csv")) {
        groups.add(csv(cores));
      }
    }
    List<Row> order = new ArrayList<>();
    groups.forEach(group -> order.addAll(group.rows()));
    for (int turn = 1; turn <= turns; turn++) {
      for (Row row : order) {
        EpochRates rates = EpochRates.of(row.program().run());
        row.turns().add(rates);
        System.out.printf(
            Locale.ROOT,
            "  turn %d of %d, %d cores, %s: %.0f samples/s, then %.0f, %.0f per CPU s%n",
            turn,
            turns,
            row.cores(),
            row.name(),
            rates.first(),
            rates.later(),
            rates.perCpu());
      }
      Collections.reverse(order);
    }
    System.out.printf(
        Locale.ROOT,
        "%nSamples/s of the first epoch, median of epochs 2 to %d, and samples per CPU second of"
            + " the same epochs; medians of %d turns; ratios within turns: median (min..max)%n%s",
        EPOCHS,
        turns,
        table(groups));
  }

  /** Returns loaders that crop randomly to squares of {@code size} pixels. */
  private Group djl(int cores, int size) {
    Group group = group("crop" + size, cores);
    String name = "DJL crop" + size;
    djl(group, cores, size, name, "", 0);
    djl(group, cores, size, name, SHARE, 0);
    if (cores > 1) {
      djl(group, cores, size, name + ", pool of 2", "", 2);
      djl(group, cores, size, name + ", pool of 2", SHARE, 2);
    }
    if (canPrefetch) {
      djl(group, cores, size, name, AHEAD, 0);
    }
    return group;
  }

  private void djl(Group group, int cores, int size, String name, String policy, int threads) {
    for (Agent version : policy.isEmpty() ? List.of(agent) : agents) {
      group
          .rows()
          .add(
              new Row(
                  (name + " " + policy).strip() + version.mark(),
                  cores,
                  () -> djl(djl.images(), cores, version, policy, threads, size)));
    }
  }

  private Group dl4j(int cores) {
    Path images = djl.images();
    Group group = group("resize224", cores);
    group.rows().add(new Row("DL4J", cores, () -> dl4j(images, cores, agent, "")));
    for (Agent version : agents) {
      String shared = "DL4J " + SHARE + version.mark();
      group.rows().add(new Row(shared, cores, () -> dl4j(images, cores, version, SHARE)));
    }
    if (canPrefetch) {
      group.rows().add(new Row("DL4J " + AHEAD, cores, () -> dl4j(images, cores, agent, AHEAD)));
    }
    return group;
  }

  private Group csv(int cores) throws IOException {
    Path table = table();
    Group group = group("csv", table, cores);
    for (String policy : List.of("", PREPARED)) {
      group
          .rows()
          .add(
              new Row(
                  ("DJL csv " + policy).strip(),
                  cores,
                  () -> djl(table, cores, agent, policy, 0, 0)));
      if (cores > 1) {
        group
            .rows()
            .add(
                new Row(
                    ("DJL csv, pool of 2 " + policy).strip(),
                    cores,
                    () -> djl(table, cores, agent, policy, 2, 0)));
      }
      group
          .rows()
          .add(
              new Row(
                  ("DL4J csv " + policy).strip(), cores, () -> dl4j(table, cores, agent, policy)));
    }
    return group;
  }

  /** Returns the table, after writing it if it is missing. */
  private Path table() throws IOException {
    Path table = work.resolve("table.csv");
    if (!Files.exists(table)) {
      Random random = new Random(5);
      List<String> rows = new ArrayList<>();
      rows.add(row(column -> "c" + column));
      for (int i = 0; i < ROWS; i++) {
        rows.add(row(column -> text(4, random.nextGaussian())));
      }
      Files.write(table, rows);
    }
    return table;
  }

  private static String row(IntFunction<String> value) {
    return IntStream.range(0, COLUMNS).mapToObj(value).collect(Collectors.joining(","));
  }

  private Group group(String pipeline, int cores) {
    return group(pipeline, djl.images(), cores);
  }

  private Group group(String pipeline, Path data, int cores) {
    Group group = new Group(pyTorch.isPresent(), new ArrayList<>());
    // On one core, a worker process would gain nothing.
    int workers = cores > 1 ? cores : 0;
    pyTorch.ifPresent(
        python ->
            group
                .rows()
                .add(
                    new Row(
                        "PyTorch " + pipeline + ", num_workers=" + workers,
                        cores,
                        () ->
                            python.run(
                                pinned(cores),
                                script().toString(),
                                data.toString(),
                                pipeline,
                                Integer.toString(workers),
                                Integer.toString(EPOCHS)))));
    return group;
  }

  private Path script() {
    return checkout.root().resolve("examples/benchmarks/src/main/python/loader.py");
  }

  private String djl(Path data, int cores, Agent version, String policy, int threads, int size)
      throws IOException, InterruptedException {
    return run(
        Example.DJL
            .program(checkout, Jdks.running(), "example.loader.DjlLoader")
            .args(
                data.toString(),
                Integer.toString(EPOCHS),
                Integer.toString(threads),
                Integer.toString(size)),
        cores,
        version,
        policy);
  }

  private String dl4j(Path data, int cores, Agent version, String policy)
      throws IOException, InterruptedException {
    return run(
        Example.DL4J
            .program(checkout, Jdks.running(), "example.loader.Dl4jLoader")
            .args(data.toString(), Integer.toString(EPOCHS)),
        cores,
        version,
        policy);
  }

  private String run(ChildJvm job, int cores, Agent version, String policy)
      throws IOException, InterruptedException {
    job.classPath(checkout.testPrograms()).wrapper(pinned(cores));
    if (!policy.isEmpty()) {
      String recording = work.resolve("loader.jfr").toString();
      job.agent(version.jar(), "summary=off,record=" + recording + "," + policy);
    }
    return job.run().orFail("A loader").out();
  }

  private static List<String> pinned(int cores) {
    return List.of("taskset", "-c", cores == 1 ? "0" : "0-" + (cores - 1));
  }

  private static TextTable table(List<Group> groups) {
    TextTable table =
        new TextTable("loader", "cores", "first", "later", "of PyTorch", "per CPU s", "of PyTorch");
    for (Group group : groups) {
      Row reference = group.rows().get(0);
      for (Row row : group.rows()) {
        table.row(
            row.name(),
            Integer.toString(row.cores()),
            text(0, Pairs.median(rates(row, EpochRates::first))),
            text(0, Pairs.median(rates(row, EpochRates::later))),
            group.compared() ? ratio(row, reference, EpochRates::later) : "-",
            text(0, Pairs.median(rates(row, EpochRates::perCpu))),
            group.compared() ? ratio(row, reference, EpochRates::perCpu) : "-");
      }
    }
    return table;
  }

  private static List<Double> rates(Row row, Function<EpochRates, Double> rate) {
    return row.turns().stream().map(rate).toList();
  }

  /** Returns the median, minimum and maximum of the ratios within turns. */
  private static String ratio(Row row, Row reference, Function<EpochRates, Double> rate) {
    List<Double> ratios = new Pairs(rates(reference, rate), rates(row, rate)).ratios();
    return text(2, Pairs.median(ratios))
        + " ("
        + text(2, Collections.min(ratios))
        + ".."
        + text(2, Collections.max(ratios))
        + ")";
  }

  private static String text(int digits, double value) {
    return String.format(Locale.ROOT, "%." + digits + "f", value);
  }
}
