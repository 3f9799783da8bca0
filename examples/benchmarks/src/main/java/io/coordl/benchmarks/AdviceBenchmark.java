package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests whether the advice is true, on four programs as users write them: pictures in folders with
 * DJL's {@code EasyTrain.fit}, pictures and a table with DL4J's {@code fit(iterator, epochs)}, and
 * a table with DJL in a hand-written loop. First it tries every setting of a grid once, to find the
 * best. Then it follows the advice of each run, up to three times: pairs of runs measure the
 * speed-up, which is compared with the prediction. Finally, pairs of runs compare the last settings
 * with the best of the grid. A run's speed is the median of its epochs from the third on.
 *
 * <p>Arguments: pairs (2), percent of the samples (100), a part of the programs' names, or {@code
 * all} ({@code auto} for those that {@link AutoBenchmark} trains instead of these four), and the
 * cores that the programs have: {@code all} (default), {@code one-core}, {@code quota} (a control
 * group that allows them one core) or {@code neighbour} (another process keeps one core busy).
 * {@code quick} instead tries one program on little data in a minute or two, without a verdict on
 * speeds. There is also no verdict on speeds if other programs used the cores. Exits with 1 if a
 * bar is missed, losses differ between settings of the grid, or advice repeats earlier settings.
 */
public final class AdviceBenchmark {
  /** Earlier epochs fill caches and warm up. */
  private static final int FIRST_MEASURED = 3;

  private static final int ROUNDS = 3;
  private static final int EPOCHS = 5;
  private static final String ALL_CORES = "all";

  /** ND4J sometimes frees an array in use, with or without the agent. */
  private static final String CRASH = "sd::DataBuffer::primary()";

  private static final List<String> FORMS =
      List.of("", "cache=minio", "decoded=share", "prepared=share");
  private static final List<String> PREFETCHES =
      List.of("", "prefetch=1", "prefetch=2", "prefetch=4");

  private static final List<Program> PROGRAMS =
      List.of(
          new Program(Example.DJL, "still", "pictures", 300),
          new Program(Example.DL4J, "images-at-once", "pictures", 500),
          new Program(Example.DL4J, "csv-at-once", "table", 1000),
          new Program(Example.DJL, "csv-by-hand", "table", 3000));

  private record Program(TrainingProgram program, int samples) {
    Program(Example library, String name, String kind, int samples) {
      this(new TrainingProgram(library, name, kind), samples);
    }

    @Override
    public String toString() {
      return program.toString();
    }
  }

  /** One run, and what its summary advises. */
  private record Run(double rate, List<String> next, double bound, List<String> withoutEffect) {}

  private final Checkout checkout = Checkout.find();

  /** Losses of the first run of each program; all later runs must have the same. */
  private final Map<Program, List<String>> losses = new HashMap<>();

  private final CoordlTool coordl = new CoordlTool(checkout);
  private final Path work = Files.createDirectories(checkout.work("advice"));
  private final int pairs;
  private final int percent;
  private final boolean quick;
  private final String cores;
  private final List<AdviceBars> found = new ArrayList<>();
  private List<String> wrapper = List.of();
  private double cpuSeconds;

  private AdviceBenchmark(int pairs, int percent, boolean quick, String cores) throws IOException {
    this.pairs = pairs;
    this.percent = percent;
    this.quick = quick;
    this.cores = cores;
  }

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    boolean quick = args.length > 0 && args[0].equals("quick");
    AdviceBenchmark benchmark =
        new AdviceBenchmark(
            quick || args.length < 1 ? quick ? 1 : 2 : Integer.parseInt(args[0]),
            quick ? 10 : args.length > 1 ? Integer.parseInt(args[1]) : 100,
            quick,
            args.length > 3 ? args[3] : ALL_CORES);
    String only = args.length > 2 && !args[2].equals("all") ? args[2] : "";
    boolean met = benchmark.measureOn(quick ? "csv-by-hand" : only);
    System.out.println("made by: " + Commands.of(benchmark.checkout, AdviceBenchmark.class, args));
    System.exit(met ? 0 : 1);
  }

  /** Measures the programs whose names contain {@code only}, on the cores of the arguments. */
  private boolean measureOn(String only) throws IOException, InterruptedException {
    return switch (cores) {
      case ALL_CORES -> measure(only);
      case "one-core" -> {
        wrapper = List.of("taskset", "-c", "0");
        yield measure(only);
      }
      case "quota" -> {
        try (CoreQuota quota = new CoreQuota()) {
          quota.cores(1);
          wrapper = quota.wrapper();
          yield measure(only);
        }
      }
      case "neighbour" -> {
        Process neighbour = new ProcessBuilder("/bin/sh", "-c", "while :; do :; done").start();
        Runtime.getRuntime().addShutdownHook(new Thread(neighbour::destroy));
        try {
          yield measure(only);
        } finally {
          neighbour.destroy();
        }
      }
      default ->
          throw new IllegalArgumentException(
              "cores is " + cores + ", expected all, one-core, quota or neighbour");
    };
  }

  private boolean measure(String only) throws IOException, InterruptedException {
    System.out.println(Jdks.running() + "; " + OtherLoad.machine());
    OtherLoad others = OtherLoad.begin();
    boolean isAuto = only.equals("auto");
    List<Program> programs =
        isAuto
            ? AutoBenchmark.training().stream()
                .map(one -> new Program(one.program(), one.samples()))
                .toList()
            : PROGRAMS;
    for (Program program : programs) {
      if (isAuto || program.toString().contains(only)) {
        found.add(follow(program));
      }
    }
    TextTable table =
        new TextTable("program", "advice", "predicted at most", "measured", "lower end");
    for (AdviceBars bars : found) {
      for (AdviceBars.Step step : bars.steps()) {
        table.row(
            bars.program(),
            step.arguments(),
            text(step.bound()),
            text(step.measured()),
            text(step.low()));
      }
      table.row(bars.program(), "final speed / best by hand", "", text(bars.speedOverBest()), "");
    }
    System.out.printf("%nSpeed-up, median of %d pairs of runs; cores: %s%n%s", pairs, cores, table);
    List<String> missed = AdviceBars.missed(found);
    double share = others.share(cpuSeconds);
    boolean isBusy = share >= OtherLoad.BUSY && !cores.equals("neighbour");
    if (isBusy || quick) {
      System.out.printf(
          Locale.ROOT,
          "%s: no verdict on speeds%n",
          quick
              ? "tried on little data"
              : "other programs used " + Math.round(100 * share) + " % of the cores");
      return missed.stream().noneMatch(one -> one.contains(": advised, but "));
    }
    System.out.println("bars: " + (missed.isEmpty() ? "met" : "missed: " + missed));
    return missed.isEmpty();
  }

  private AdviceBars follow(Program program) throws IOException, InterruptedException {
    int samples = Math.max(96, program.samples * percent / 100);
    String data = program.program.data(checkout, work, samples);
    String best = best(program, data);
    List<AdviceBars.Step> steps = new ArrayList<>();
    List<String> tried = new ArrayList<>(List.of(""));
    String current = "";
    Run last = run(program, data, current);
    for (int round = 1; round <= ROUNDS && !last.next.isEmpty(); round++) {
      String advised = String.join(",", last.next);
      if (tried.contains(advised)) {
        throw new IllegalStateException(
            program + ": advice repeats earlier settings: " + tried + ", " + advised);
      }
      tried.add(advised);
      String before = current;
      double bound = last.bound;
      List<Run> after = new ArrayList<>();
      List<Double> ratios = ratios(program, data, before, advised, after);
      last = after.get(after.size() - 1);
      steps.add(new AdviceBars.Step(advised, bound, ratios, last.withoutEffect));
      System.out.println("  " + program + ", " + steps.get(steps.size() - 1));
      current = advised;
    }
    double speedOverBest =
        current.equals(best)
            ? 1
            : Pairs.median(ratios(program, data, best, current, new ArrayList<>()));
    return new AdviceBars(program.toString(), steps, speedOverBest);
  }

  /** Returns the speed of the second setting relative to the first, for each pair of runs. */
  private List<Double> ratios(
      Program program, String data, String first, String second, List<Run> ofSecond)
      throws IOException, InterruptedException {
    List<Double> ratios = new ArrayList<>();
    for (int pair = 0; pair < pairs; pair++) {
      double firstRate = pair % 2 == 0 ? run(program, data, first).rate : 0;
      Run other = run(program, data, second);
      firstRate = pair % 2 == 0 ? firstRate : run(program, data, first).rate;
      ofSecond.add(other);
      ratios.add(other.rate / firstRate);
      System.out.printf(
          Locale.ROOT,
          "  %s, %s: %.0f samples/s, %s: %.0f%n",
          program,
          described(first),
          firstRate,
          described(second),
          other.rate);
    }
    return ratios;
  }

  /** Returns the fastest setting of the grid, trying each once. */
  private String best(Program program, String data) throws IOException, InterruptedException {
    Map<String, Double> rates = new LinkedHashMap<>();
    for (String form : quick ? List.of("", "prepared=share") : FORMS) {
      for (String prefetch : quick ? List.of("") : PREFETCHES) {
        String setting =
            form.isEmpty() || prefetch.isEmpty() ? form + prefetch : form + "," + prefetch;
        Run run = run(program, data, setting);
        rates.put(setting, run.rate);
        System.out.printf(
            Locale.ROOT, "  %s, %s: %.0f samples/s%n", program, described(setting), run.rate);
      }
    }
    String best =
        rates.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
    System.out.println("  " + program + ", best by hand: " + described(best));
    return best;
  }

  private static String described(String setting) {
    return setting.isEmpty() ? "no argument" : setting;
  }

  private Run run(Program program, String data, String setting)
      throws IOException, InterruptedException {
    Path recording = work.resolve("job.jfr");
    Files.deleteIfExists(recording);
    ChildJvm job =
        program
            .program
            .job(checkout, data, EPOCHS)
            .wrapper(wrapper)
            .agent(
                checkout.agentJar(),
                "record=" + recording + (setting.isEmpty() ? "" : "," + setting));
    ChildResult result = job.run();
    if (result.out().contains(CRASH)) {
      System.out.printf(
          "  %s, %s: crashed in %s because of a bug in ND4J (docs/limits.md); rerunning%n",
          program, described(setting), CRASH);
      result = job.run();
    }
    result.orFail(program + "");
    cpuSeconds += result.cpuSeconds();
    TrainingEpochs printed = TrainingEpochs.of(result.out(), FIRST_MEASURED);
    List<String> expected = losses.computeIfAbsent(program, any -> printed.losses());
    if (!expected.equals(printed.losses())) {
      throw new IllegalStateException(
          program + ", " + setting + ": losses are " + printed.losses() + ", expected " + expected);
    }
    JsonNode next =
        JsonMapper.shared()
            .readTree(coordl.run("summary", "--json", recording.toString()))
            .path("next");
    List<String> arguments = new ArrayList<>();
    next.path("arguments").forEach(one -> arguments.add(one.asString()));
    arguments.removeIf(argument -> argument.startsWith("record="));
    return new Run(
        printed.rate(),
        arguments,
        next.path("gain").doubleValue(),
        result
            .err()
            .lines()
            .filter(line -> line.contains(" did nothing: "))
            .map(line -> line.replace("[coordl] ", ""))
            .toList());
  }

  private static String text(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
