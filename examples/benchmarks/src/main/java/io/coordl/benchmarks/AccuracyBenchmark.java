package io.coordl.benchmarks;

import io.coordl.harness.BatchLogs;
import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.math3.stat.StatUtils;
import org.apache.commons.math3.stat.inference.TestUtils;

/**
 * Tests whether jobs that share their batches learn as well as jobs that do not. Trains pairs of
 * jobs with different initial weights for 10 epochs on 1200 small pictures, once coordinated and
 * once, with the same seeds, uncoordinated. Compares the accuracy on 400 held-out pictures and the
 * mean loss of the last epoch.
 *
 * <p>The jobs of a coordinated pair share order and crops, so they are not independent: a pair
 * counts once, as the mean of its two jobs, with and without coordination. A difference is noise if
 * p is above 0.05 in a two-sided Welch's t-test.
 *
 * <p>Exit status 1 unless each job used each picture exactly once per epoch. A note names pairs
 * that did not share every batch. Arguments: pairs (5), DJL or DL4J (both).
 */
public final class AccuracyBenchmark {
  private static final int EPOCHS = 10;
  private static final int CLASSES = 4;
  private static final int PER_CLASS = 300;
  private static final int HELD_OUT_PER_CLASS = 100;
  private static final String PIXELS = "96x72";
  private static final double SIGNIFICANT = 0.05;
  private static final Pattern ACCURACY =
      Pattern.compile("epoch " + EPOCHS + ":.* accuracy ([0-9.]+)");

  private final Checkout checkout = Checkout.find();
  private final Path work = checkout.work("accuracy");
  private final Path pictures = work.resolve("images");
  private final Path heldOut = work.resolve("held-out");
  private final List<String> wrong = new ArrayList<>();
  private final TextTable table =
      new TextTable(
          "mean of a pair", "coordinated: mean", "sd", "solo: mean", "sd", "t", "p", "noise");

  private AccuracyBenchmark() {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int pairs = args.length > 0 ? Integer.parseInt(args[0]) : 5;
    AccuracyBenchmark benchmark = new AccuracyBenchmark();
    benchmark.makePictures();
    for (Example example : Example.values()) {
      if (args.length < 2 || args[1].equals(example.name())) {
        benchmark.measure(example, pairs);
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%nAfter %d epochs, %d pairs of jobs each; noise: p > %.2f in Welch's t-test%n%s",
        EPOCHS,
        pairs,
        SIGNIFICANT,
        benchmark.table);
    benchmark.wrong.forEach(sentence -> System.out.println("  WRONG: " + sentence));
    System.out.println(
        "made by: " + Commands.of(benchmark.checkout, AccuracyBenchmark.class, args));
    System.exit(benchmark.wrong.isEmpty() ? 0 : 1);
  }

  private void makePictures() throws IOException, InterruptedException {
    Files.createDirectories(work);
    String classes = Integer.toString(CLASSES);
    Pictures.make(checkout, pictures, classes, Integer.toString(PER_CLASS), PIXELS, "1");
    Pictures.make(checkout, heldOut, classes, Integer.toString(HELD_OUT_PER_CLASS), PIXELS, "2");
  }

  /** Results of pairs of jobs; each value is the mean over a pair. */
  private record Learned(List<Double> accuracy, List<Double> loss) {}

  private void measure(Example example, int pairs) throws IOException, InterruptedException {
    job(example, "warm-up", 1, 0).run().orFail("The warm-up of the " + example + " example");
    Learned coordinated = new Learned(new ArrayList<>(), new ArrayList<>());
    Learned solo = new Learned(new ArrayList<>(), new ArrayList<>());
    for (int pair = 0; pair < pairs; pair++) {
      train(example, pair, true, coordinated);
      train(example, pair, false, solo);
    }
    row(example + " accuracy", coordinated.accuracy(), solo.accuracy());
    row(example + " loss", coordinated.loss(), solo.loss());
  }

  private void train(Example example, int pair, boolean coordinated, Learned learned)
      throws IOException, InterruptedException {
    String what = example + (coordinated ? "-coordinated-" : "-solo-") + pair;
    String group = "accuracy-" + ProcessHandle.current().pid() + "-" + pair;
    List<ChildJvm> jobs = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      ChildJvm job = job(example, what + "-" + i, 2 * pair + i + 1, EPOCHS);
      if (coordinated) {
        job.agent(
            checkout.agentJar(),
            "record=off,summary=off,prep=coordinate,prep.jobs=2,group=" + group);
      }
      jobs.add(job);
    }
    List<ChildResult> results = ConcurrentJobs.run(what, jobs).results();
    double accuracy = 0;
    double loss = 0;
    for (int i = 0; i < 2; i++) {
      Path log = log(what + "-" + i);
      accuracy += accuracy(results.get(i)) / 2;
      loss += BatchLogs.meanLoss(log, EPOCHS) / 2;
      Optional<String> error = BatchLogs.notOncePerEpoch(log, CLASSES * PER_CLASS, EPOCHS);
      error.ifPresent(wrong::add);
      long same = BatchLogs.sameBatches(log(what + "-0"), log);
      if (coordinated && same != BatchLogs.batches(log)) {
        System.out.println("  NOTE: " + what + ": the jobs share only " + same + " batches");
      }
    }
    learned.accuracy().add(accuracy);
    learned.loss().add(loss);
    System.out.printf(Locale.ROOT, "  %s: accuracy %.4f, loss %.4f%n", what, accuracy, loss);
  }

  private Path log(String name) {
    return work.resolve(name + ".log");
  }

  private ChildJvm job(Example example, String name, int seed, int epochs) throws IOException {
    ChildJvm job =
        example
            .program(checkout, Jdks.running())
            .directory(work)
            .args("--data", pictures.toString(), "--validate", heldOut.toString())
            .args("--log", log(name).toString(), "--seed", Integer.toString(seed))
            .args("--epochs", Integer.toString(epochs));
    return example == Example.DJL
        ? job.args("--size", "24", "--layers", "8", "--lr", "0.01")
        : job.args("--size", "48", "--stride", "2");
  }

  private static double accuracy(ChildResult result) {
    Matcher accuracy = ACCURACY.matcher(result.out());
    if (!accuracy.find()) {
      throw new IllegalStateException("The job printed no accuracy for epoch " + EPOCHS + ".");
    }
    return Double.parseDouble(accuracy.group(1));
  }

  private void row(String what, List<Double> coordinated, List<Double> solo) {
    double[] withCoordination = array(coordinated);
    double[] without = array(solo);
    double p = TestUtils.tTest(withCoordination, without);
    table.row(
        what,
        number(4, StatUtils.mean(withCoordination)),
        number(4, Math.sqrt(StatUtils.variance(withCoordination))),
        number(4, StatUtils.mean(without)),
        number(4, Math.sqrt(StatUtils.variance(without))),
        number(2, TestUtils.t(withCoordination, without)),
        number(3, p),
        p > SIGNIFICANT ? "yes" : "no");
  }

  private static double[] array(Collection<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static String number(int digits, double value) {
    return String.format(Locale.ROOT, "%." + digits + "f", value);
  }
}
