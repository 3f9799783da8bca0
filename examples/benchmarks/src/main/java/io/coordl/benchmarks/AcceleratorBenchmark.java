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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests whether {@code coordl profile --accelerator} finds the number of accelerators that this
 * host can feed. The jobs ({@code example.loader.DjlDemand}) take a known CPU time for each sample,
 * so the utilisation (AU) of n accelerators on the host's cores is known by construction. If a step
 * takes time S, and preparing a batch takes time P, the utilisation is
 *
 * <ul>
 *   <li>min(S / (S + P), S x cores / (n x P)) if the training thread also prepares the batches
 *   <li>min(1, S / P, S x cores / (n x P)) if another thread prepares them
 * </ul>
 *
 * <p>There are two jobs, with steps of {@value #STEP} ms and batches of {@value #BATCH}. One takes
 * 1 ms per sample without threads, which leaves even one accelerator below 90 % AU; the other takes
 * 5 ms per sample on a thread, so the host feeds about 1.4 accelerators per core.
 *
 * <p>Argument: {@code quick} measures few steps, without a verdict. Exit status 1 if a utilisation
 * differs by more than {@value #BAR} points from the known one, or the number of accelerators fed
 * is wrong.
 */
public final class AcceleratorBenchmark {
  private static final double BAR = 3;
  private static final int STEP = 50;
  private static final int BATCH = 8;
  private static final int FILES = 512;
  private static final int FILE_BYTES = 4 << 10;
  private static final double THRESHOLD = 90;
  private static final int CORES = Runtime.getRuntime().availableProcessors();

  private AcceleratorBenchmark() {}

  /** A job: number of preparing threads, and CPU milliseconds per sample. */
  private record Job(int threads, double cpuMillis) {
    /** Returns the utilisation of this many accelerators, in percent. */
    double known(int accelerators) {
      double prep = BATCH * cpuMillis;
      double alone = threads == 0 ? STEP / (STEP + prep) : Math.min(1, STEP / prep);
      return 100 * Math.min(alone, STEP * CORES / (accelerators * prep));
    }

    /** Returns the number of accelerators that are fed. */
    int fed() {
      int fed = 0;
      while (known(fed + 1) >= THRESHOLD) {
        fed++;
      }
      return fed;
    }
  }

  /** Runs the benchmark; the class description lists the argument. */
  public static void main(String[] args) throws IOException, InterruptedException {
    boolean quick = List.of(args).equals(List.of("quick"));
    if (args.length > 0 && !quick) {
      System.out.println(
          "Not measured: the arguments are " + List.of(args) + ", expected none or quick.");
      System.exit(2);
    }
    Checkout checkout = Checkout.find();
    Path data = Files.createDirectories(checkout.work("accelerator").resolve("data"));
    for (int i = 0; i < FILES; i++) {
      Files.write(data.resolve("item-" + i), new byte[FILE_BYTES]);
    }
    TextTable table =
        new TextTable("job", "accelerators", "known AU %", "measured AU %", "points off");
    boolean right = true;
    for (Job job : List.of(new Job(0, 1), new Job(1, 5))) {
      JsonNode profile = profile(checkout, data, job, quick);
      String name =
          String.format(Locale.ROOT, "%d threads, %.0f ms a sample", job.threads, job.cpuMillis);
      for (JsonNode run : profile.path("runs")) {
        int accelerators = run.path("accelerators").intValue();
        double known = job.known(accelerators);
        double measured = 100 * run.path("utilisation").doubleValue();
        right &= Math.abs(measured - known) <= BAR;
        table.row(
            name,
            Integer.toString(accelerators),
            number(known),
            number(measured),
            String.format(Locale.ROOT, "%+.1f", measured - known));
      }
      int fed = profile.path("fed").intValue();
      right &= fed == job.fed();
      table.row(name, "fed", Integer.toString(job.fed()), Integer.toString(fed), "");
    }
    System.out.printf(
        Locale.ROOT,
        "%nSteps of %d ms, batches of %d, %d cores (bar %.0f points)%n%s",
        STEP,
        BATCH,
        CORES,
        BAR,
        table);
    System.out.println("made by: " + Commands.of(checkout, AcceleratorBenchmark.class, args));
    System.exit(right || quick ? 0 : 1);
  }

  private static JsonNode profile(Checkout checkout, Path data, Job job, boolean quick)
      throws IOException, InterruptedException {
    ChildJvm program =
        Example.DJL
            .program(checkout, Jdks.running(), "example.loader.DjlDemand")
            .classPath(checkout.testPrograms())
            .args(
                data.toString(),
                "100000",
                Integer.toString(job.threads),
                Integer.toString(STEP),
                Integer.toString(BATCH),
                Double.toString(job.cpuMillis));
    List<String> command =
        new ArrayList<>(
            List.of(
                "profile",
                "--agent",
                checkout.agentJar().toString(),
                "--accelerator",
                Integer.toString(STEP),
                "--json"));
    if (quick) {
      command.addAll(List.of("--steps", "20"));
    }
    command.add("--");
    command.addAll(program.commandLine());
    String json =
        new CoordlTool(checkout)
            .command(Jdks.running(), command.toArray(String[]::new))
            .echo(
                line -> {
                  if (line.startsWith("coordl: ")) {
                    System.out.println("  " + line);
                  }
                })
            .run()
            .orFail("coordl profile")
            .out();
    return JsonMapper.shared().readTree(json);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
