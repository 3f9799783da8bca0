package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Measures how long a fast accelerator waits for each batch. {@code example.loader.DjlFeed}, whose
 * step of {@value #STEP_MILLIS} ms uses no core, iterates over batches of 64 JPEG files on two
 * cores, without the agent and with several policies. All programs take turns. Epochs 2 to {@value
 * #EPOCHS} count, without the agent 2 and 3. Bar: with prefetching or {@code auto}, programs that
 * resize pictures or crop them to 64 pixels wait less than a tenth of the time. Arguments: turns
 * (3), batches per epoch (30; nothing is prepared ahead for the first), the jar of another version
 * of the agent to compare with.
 */
public final class FeedBenchmark {
  private static final int EPOCHS = 8;
  private static final int PLAIN_EPOCHS = 3;
  private static final int CLASSES = 4;
  private static final int PER_CLASS_AND_BATCH = 16;
  private static final int STEP_MILLIS = 20;
  private static final double BAR = 10;
  private static final Pattern EPOCH =
      Pattern.compile("epoch (\\d+): \\d+ batches, ([0-9.]+) ms waited for each, ([0-9.]+) %.*");

  private final Checkout checkout = Checkout.find();
  private final int batches;
  private final DjlJob djl;
  private final List<Row> rows = new ArrayList<>();

  /** One program; {@code millis} and {@code shares} have a median for each turn. */
  private record Row(
      String pictures,
      int size,
      String policy,
      Path jar,
      String mark,
      List<Double> millis,
      List<Double> shares) {
    /**
     * Whether the bar applies. It needs prefetching: otherwise, a batch is prepared while the
     * program waits for it.
     */
    boolean hasBar() {
      boolean isAhead = policy.equals("auto") || policy.contains("prefetch");
      return isAhead && mark.isEmpty() && (pictures.equals("resize") || size == 64);
    }

    String name() {
      return pictures + size + " " + (policy.isEmpty() ? "without the agent" : policy) + mark;
    }
  }

  private FeedBenchmark(int batches) throws IOException {
    this.batches = batches;
    this.djl = new DjlJob(checkout, checkout.work("feed-" + batches));
  }

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int turns = args.length > 0 ? Integer.parseInt(args[0]) : 3;
    FeedBenchmark benchmark = new FeedBenchmark(args.length > 1 ? Integer.parseInt(args[1]) : 30);
    benchmark.rows(args.length > 2 ? Path.of(args[2]) : null);
    boolean met = benchmark.measure(turns);
    System.out.println("made by: " + Commands.of(benchmark.checkout, FeedBenchmark.class, args));
    System.exit(met ? 0 : 1);
  }

  private void rows(@Nullable Path other) {
    for (int size : new int[] {64, 224}) {
      add("crop", size, other, "", "decoded=share", "decoded=share,prefetch=2", "auto");
    }
    add("resize", 224, other, "", "prepared=share", "prepared=share,prefetch=2", "auto");
  }

  private void add(String pictures, int size, @Nullable Path other, String... policies) {
    for (String policy : policies) {
      rows.add(row(pictures, size, policy, checkout.agentJar(), ""));
      if (other != null && !policy.isEmpty()) {
        rows.add(row(pictures, size, policy, other, ", other version"));
      }
    }
  }

  private static Row row(String pictures, int size, String policy, Path jar, String mark) {
    return new Row(pictures, size, policy, jar, mark, new ArrayList<>(), new ArrayList<>());
  }

  private boolean measure(int turns) throws IOException, InterruptedException {
    djl.makeImages(CLASSES, PER_CLASS_AND_BATCH * batches);
    djl.job(Jdks.running(), "warm-up", 0).run().orFail("The warm-up of the DJL example");
    System.out.println(Jdks.running() + "; " + OtherLoad.machine());
    List<Row> order = new ArrayList<>(rows);
    for (int turn = 1; turn <= turns; turn++) {
      for (Row row : order) {
        run(row);
        System.out.printf(
            Locale.ROOT,
            "  turn %d of %d, %s: %.2f ms, %.1f %%%n",
            turn,
            turns,
            row.name(),
            row.millis().get(turn - 1),
            row.shares().get(turn - 1));
      }
      Collections.reverse(order);
    }
    TextTable table =
        new TextTable("loop", "ms waited for a batch", "least", "most", "% of the time");
    List<String> missed = new ArrayList<>();
    for (Row row : rows) {
      double share = Pairs.median(row.shares());
      table.row(
          row.name(),
          text(Pairs.median(row.millis())),
          text(Collections.min(row.millis())),
          text(Collections.max(row.millis())),
          text(share));
      if (row.hasBar() && share >= BAR) {
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

  private void run(Row row) throws IOException, InterruptedException {
    int epochs = row.policy().isEmpty() ? PLAIN_EPOCHS : EPOCHS;
    ChildJvm job =
        Example.DJL
            .program(checkout, Jdks.running(), "example.loader.DjlFeed")
            .classPath(checkout.testPrograms())
            .wrapper(List.of("taskset", "-c", "0-1"))
            .args(
                djl.images().toString(),
                Integer.toString(epochs),
                row.pictures(),
                Integer.toString(row.size()),
                Integer.toString(STEP_MILLIS));
    if (!row.policy().isEmpty()) {
      job.agent(row.jar(), "record=off,summary=off," + row.policy());
    }
    List<Double> millis = new ArrayList<>();
    List<Double> shares = new ArrayList<>();
    EPOCH
        .matcher(job.run().orFail("The loop").out())
        .results()
        .filter(epoch -> Integer.parseInt(epoch.group(1)) > 1)
        .forEach(
            epoch -> {
              millis.add(Double.valueOf(epoch.group(2)));
              shares.add(Double.valueOf(epoch.group(3)));
            });
    if (millis.size() != epochs - 1) {
      throw new IllegalStateException(
          millis.size() + " epochs after the first, expected " + (epochs - 1));
    }
    row.millis().add(Double.valueOf(Pairs.median(millis)));
    row.shares().add(Double.valueOf(Pairs.median(shares)));
  }

  private static String text(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
