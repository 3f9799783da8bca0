package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdk;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Measures how long a fast accelerator waits for each batch, and what the batch costs. {@code
 * example.loader.DjlFeed} and {@code Dl4jFeed}, whose step of {@value #STEP_MILLIS} ms uses no
 * core, iterate over batches of 64 JPEG files on two cores, without the agent and with several
 * policies. All programs take turns. Epochs 2 to {@value #EPOCHS} count, without the agent 2 and 3.
 * Bar: with prefetching or {@code auto}, programs that resize pictures or crop them to 64 pixels
 * wait less than a tenth of the time. Engine calls are counted in separate runs, in epochs 3 and 4
 * (without the agent, in epoch 2), if a JDK of release 25 or newer is installed. Arguments: turns
 * (3), batches per epoch (30; the first is never prepared ahead), DJL or DL4J (all), and in any
 * order: the jar of another version of the agent to compare with, and {@code uncounted} to count no
 * engine calls.
 */
public final class FeedBenchmark {
  private static final int EPOCHS = 8;
  private static final int PLAIN_EPOCHS = 3;
  private static final int CLASSES = 4;
  private static final int PER_CLASS_AND_BATCH = 16;
  private static final int STEP_MILLIS = 20;
  private static final double BAR = 10;

  /** Engine calls are the difference between runs of this many epochs and of twice as many. */
  private static final int COUNT_FROM = 2;

  private static final Pattern EPOCH =
      Pattern.compile(
          "epoch (\\d+): \\d+ batches, ([0-9.]+) ms waited for each, ([0-9.]+) % of the time;"
              + " ([0-9.]+) ms of CPU and (\\d+) page faults for each");

  private final Checkout checkout = Checkout.find();
  private final int batches;
  private final DjlJob djl;
  private final List<Row> rows = new ArrayList<>();
  private final EngineCalls calls;

  /** Figures per batch: wait in ms and in % of the time, CPU time in ms, and page faults. */
  private record Cost(double millis, double share, double cpu, double faults) {
    static Cost of(MatchResult epoch) {
      return new Cost(
          Double.parseDouble(epoch.group(2)),
          Double.parseDouble(epoch.group(3)),
          Double.parseDouble(epoch.group(4)),
          Double.parseDouble(epoch.group(5)));
    }

    static double median(List<Cost> costs, ToDoubleFunction<Cost> figure) {
      return Pairs.median(costs.stream().mapToDouble(figure).boxed().toList());
    }

    static Cost median(List<Cost> costs) {
      return new Cost(
          median(costs, Cost::millis),
          median(costs, Cost::share),
          median(costs, Cost::cpu),
          median(costs, Cost::faults));
    }
  }

  /** One program; {@code turns} has the median cost in each turn. */
  private record Row(
      Example library,
      String pictures,
      int size,
      String policy,
      Path jar,
      String mark,
      List<Cost> turns) {
    /**
     * Whether the bar applies. Without prefetching, a batch is prepared while the program waits for
     * it.
     */
    boolean hasBar() {
      boolean isAhead = policy.equals("auto") || policy.contains("prefetch");
      return isAhead && mark.isEmpty() && (pictures.equals("resize") || size == 64);
    }

    String name() {
      String settings = policy.isEmpty() ? "without the agent" : policy;
      return library + " " + pictures + size + " " + settings + mark;
    }
  }

  private FeedBenchmark(int batches) throws IOException {
    this.batches = batches;
    Path work = checkout.work("feed-" + batches);
    this.djl = new DjlJob(checkout, work);
    this.calls = new EngineCalls(work.resolve("calls.jfr"));
  }

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int turns = args.length > 0 ? Integer.parseInt(args[0]) : 3;
    FeedBenchmark benchmark = new FeedBenchmark(args.length > 1 ? Integer.parseInt(args[1]) : 30);
    String only = args.length > 2 ? args[2] : "all";
    Path other = null;
    boolean counts = true;
    for (String more : List.of(args).subList(Math.min(3, args.length), args.length)) {
      if (more.equals("uncounted")) {
        counts = false;
      } else {
        other = Path.of(more);
      }
    }
    benchmark.rows(only, other);
    boolean met = benchmark.measure(turns, counts);
    System.out.println("made by: " + Commands.of(benchmark.checkout, FeedBenchmark.class, args));
    System.exit(met ? 0 : 1);
  }

  private void rows(String only, @Nullable Path other) {
    if (!only.equals("DL4J")) {
      add(Example.DJL, "crop", 64, other, "decoded=share");
      add(Example.DJL, "crop", 224, other, "decoded=share");
      add(Example.DJL, "resize", 224, other, "prepared=share");
    }
    if (!only.equals("DJL")) {
      add(Example.DL4J, "crop", 224, other, "decoded=share");
      add(Example.DL4J, "resize", 224, other, "prepared=share");
    }
  }

  private void add(
      Example library, String pictures, int size, @Nullable Path other, String caching) {
    for (String policy : List.of("", caching, caching + ",prefetch=2", "auto")) {
      rows.add(
          new Row(library, pictures, size, policy, checkout.agentJar(), "", new ArrayList<>()));
      if (other != null && !policy.isEmpty()) {
        rows.add(
            new Row(library, pictures, size, policy, other, ", other version", new ArrayList<>()));
      }
    }
  }

  private boolean measure(int turns, boolean counts) throws IOException, InterruptedException {
    djl.makeImages(CLASSES, PER_CLASS_AND_BATCH * batches);
    djl.job(Jdks.running(), "warm-up", 0).run().orFail("The warm-up of the DJL example");
    System.out.println(Jdks.running() + "; " + OtherLoad.machine());
    List<Row> order = new ArrayList<>(rows);
    for (int turn = 1; turn <= turns; turn++) {
      for (Row row : order) {
        Cost cost = run(row);
        row.turns().add(cost);
        System.out.printf(
            Locale.ROOT,
            "  turn %d of %d, %s: %.2f ms, %.1f %%%n",
            turn,
            turns,
            row.name(),
            cost.millis(),
            cost.share());
      }
      Collections.reverse(order);
    }
    Optional<Jdk> counting = counts ? EngineCalls.jdk() : Optional.empty();
    if (counts && counting.isEmpty()) {
      System.out.println("No JDK of release 25 or newer, so engine calls are not counted");
    }
    TextTable table =
        new TextTable(
            "loop, per batch", "wait ms", "min", "max", "% of time", "CPU ms", "faults", "calls");
    List<String> missed = new ArrayList<>();
    for (Row row : rows) {
      List<Double> waits = row.turns().stream().map(Cost::millis).toList();
      Cost median = Cost.median(row.turns());
      table.row(
          row.name(),
          text(median.millis()),
          text(Collections.min(waits)),
          text(Collections.max(waits)),
          text(median.share()),
          text(median.cpu()),
          Long.toString(Math.round(median.faults())),
          counting.isPresent() ? text(calls(row, counting.get())) : "-");
      if (row.hasBar() && median.share() >= BAR) {
        missed.add(row.name());
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%nMedians of epochs 2 to %d (without the agent, 2 to %d) of %d batches, then of %d turns;"
            + " steps of %d ms%n%s",
        EPOCHS,
        PLAIN_EPOCHS,
        batches,
        turns,
        STEP_MILLIS,
        table);
    if (!missed.isEmpty()) {
      System.out.println("These wait a tenth of the time or more: " + String.join("; ", missed));
    }
    return missed.isEmpty();
  }

  private Cost run(Row row) throws IOException, InterruptedException {
    int epochs = row.policy().isEmpty() ? PLAIN_EPOCHS : EPOCHS;
    List<Cost> costs =
        EPOCH
            .matcher(job(row, Jdks.running(), epochs).run().orFail("The loop").out())
            .results()
            .filter(epoch -> Integer.parseInt(epoch.group(1)) > 1)
            .map(Cost::of)
            .toList();
    if (costs.size() != epochs - 1) {
      throw new IllegalStateException(
          costs.size() + " epochs after the first, expected " + (epochs - 1));
    }
    return Cost.median(costs);
  }

  /** Returns the engine calls per batch. */
  private double calls(Row row, Jdk jdk) throws IOException, InterruptedException {
    int from = row.policy().isEmpty() ? 1 : COUNT_FROM; // Without the agent, epochs are alike.
    long before = calls.count(job(row, jdk, from), row.library());
    long after = calls.count(job(row, jdk, 2 * from), row.library());
    return (double) (after - before) / (from * batches);
  }

  private ChildJvm job(Row row, Jdk jdk, int epochs) throws IOException {
    String program = row.library() == Example.DJL ? "DjlFeed" : "Dl4jFeed";
    ChildJvm job =
        row.library()
            .program(checkout, jdk, "example.loader." + program)
            .classPath(checkout.testPrograms())
            .wrapper(List.of("taskset", "-c", "0-1"))
            .args(
                djl.images().toString(),
                Integer.toString(epochs),
                row.pictures(),
                Integer.toString(row.size()),
                Integer.toString(STEP_MILLIS));
    return row.policy().isEmpty()
        ? job
        : job.agent(row.jar(), "record=off,summary=off," + row.policy());
  }

  private static String text(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
