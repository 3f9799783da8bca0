package io.coordl.benchmarks;

import io.coordl.harness.BatchLogs;
import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Profiles both unmodified examples. Only one rate of a profile can be checked: with all files in
 * the page cache, a job without the agent must be as fast as the profile's phase <i>cached</i>. So
 * each example also runs without the agent right before and after its profile. The first minute of
 * these runs, in which the JIT compiler works, is reported separately, because the phases of a
 * profile come later. Arguments: the number of profiles of each example (1), and a part of the
 * example's name (both).
 */
public final class ExampleProfiles {
  private static final int PICTURES = 400;
  private static final int CLASSES = 4;

  /** Approximate duration of a run without the agent. */
  private static final double SECONDS = 150;

  private static final double FIRST_SECONDS = 60;

  private final Checkout checkout = Checkout.find();
  private final Path work = Files.createDirectories(checkout.work("example-profiles"));
  private final Path pictures = work.resolve("pictures");
  private final Path log = work.resolve("job.log");
  private final CoordlTool coordl = new CoordlTool(checkout);
  private final TextTable table =
      new TextTable(
          "example",
          "run",
          "first minute",
          "before",
          "after",
          "cached",
          "±",
          "error %",
          "ingestion",
          "cold");

  private ExampleProfiles() throws IOException {}

  /** Runs the benchmark; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int runs = args.length > 0 ? Integer.parseInt(args[0]) : 1;
    String part = args.length > 1 ? args[1] : "";
    List<Example> examples =
        List.of(Example.values()).stream().filter(one -> one.name().contains(part)).toList();
    if (examples.isEmpty()) {
      System.out.println(
          "Not measured: no example has \"" + part + "\" in its name; expected DJL or DL4J.");
      System.exit(2);
    }
    ExampleProfiles profiles = new ExampleProfiles();
    Pictures.make(
        profiles.checkout,
        profiles.pictures,
        Integer.toString(CLASSES),
        Integer.toString(PICTURES / CLASSES));
    for (int run = 1; run <= runs; run++) {
      for (Example example : examples) {
        profiles.measure(example, run);
      }
    }
    System.out.printf("samples/s of the program alone and of its profile%n%s", profiles.table);
    System.out.println("made by: " + Commands.of(profiles.checkout, ExampleProfiles.class, args));
  }

  private void measure(Example example, int run) throws IOException, InterruptedException {
    Alone before = alone(example);
    Path recording = work.resolve(example + "-" + run + ".jfr");
    coordl.profile(recording, job(example, 1000));
    Alone after = alone(example);
    JsonNode phases =
        JsonMapper.shared().readTree(coordl.run("diff", "--json", recording.toString()));
    double cached = speed(phases, "cached");
    table.row(
        example.name(),
        Integer.toString(run),
        number((before.first + after.first) / 2),
        number(before.later),
        number(after.later),
        number(cached),
        number(
            cached
                * timing(phases, "cached").path("batchNanos").path("error").doubleValue()
                / timing(phases, "cached").path("batchNanos").path("value").doubleValue()),
        String.format(
            Locale.ROOT, "%+.1f", 100 * (cached / ((before.later + after.later) / 2) - 1)),
        number(speed(phases, "ingestion")),
        number(speed(phases, "cold")));
  }

  /** Samples/s of the program without the agent, in its first minute and later. */
  private record Alone(double first, double later) {}

  private Alone alone(Example example) throws IOException, InterruptedException {
    Files.deleteIfExists(log);
    int epochs = (int) (SECONDS * example.picturesPerSecond() / PICTURES);
    job(example, epochs).run().orFail("The example");
    List<Double> seconds = BatchLogs.epochSeconds(log);
    int first = 0;
    for (double sum = 0; sum < FIRST_SECONDS && first < seconds.size() - 1; first++) {
      sum += seconds.get(first);
    }
    return new Alone(
        PICTURES / Pairs.median(seconds.subList(0, first)),
        PICTURES / Pairs.median(seconds.subList(first, seconds.size())));
  }

  private ChildJvm job(Example example, int epochs) throws IOException {
    return example
        .program(checkout, Jdks.running())
        .args(
            "--data", pictures.toString(),
            "--log", log.toString(),
            "--epochs", Integer.toString(epochs),
            "--seed", "1");
  }

  private static JsonNode timing(JsonNode phases, String phase) {
    for (JsonNode timing : phases.path("timings")) {
      if (timing.path("phase").asString().equals(phase)) {
        return timing;
      }
    }
    throw new IllegalStateException("The profile has no phase " + phase + ": " + phases);
  }

  private static double speed(JsonNode phases, String phase) {
    JsonNode timing = timing(phases, phase);
    return timing.path("samplesPerBatch").doubleValue()
        * 1e9
        / timing.path("batchNanos").path("value").doubleValue();
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
