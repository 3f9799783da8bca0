package example.search;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Tries learning rates: runs a training program once per rate, all in parallel on this host, each
 * run in its own JVM, and prints a table of the results.
 *
 * <p>Put this class in front of your usual main class: {@code java [JVM OPTIONS] -cp CLASSPATH
 * example.search.Search [OPTIONS] MAIN-CLASS [ARGUMENTS]}. Every job gets the JVM options and the
 * class path of the search, the arguments, and {@code --lr RATE}. The program is unchanged and
 * unaware of the other jobs; it must print lines such as {@code epoch 3: 2.1 s, loss 0.1234,
 * accuracy 0.9000}, of which the last one counts.
 *
 * <p>Options, each {@code --name value}:
 *
 * <ul>
 *   <li>{@code lr}: the learning rates, separated by commas (0.001,0.003,0.01,0.03)
 *   <li>{@code agent}: coordl-agent.jar; the jobs then prepare each batch once for the group
 *       (default: no agent; each job prepares all its batches)
 *   <li>{@code logs}: folder for the output and the recording of each job (search-logs)
 * </ul>
 *
 * <p>Exit status: 0 if all jobs succeed, 1 if one fails, 2 if the arguments are wrong.
 */
public final class Search {
  private static final String USAGE =
      "usage: java [JVM OPTIONS] -cp CLASSPATH example.search.Search"
          + " [--lr RATE,RATE] [--agent JAR] [--logs DIR] MAIN-CLASS [ARGUMENTS]";

  private static final Pattern EPOCH =
      Pattern.compile("epoch (\\d+):.*?loss ([^ ,]+)(?:, accuracy ([^ ,]+))?.*");

  private String[] rates = {"0.001", "0.003", "0.01", "0.03"};
  private Path agent;
  private Path logs = Path.of("search-logs");
  private List<String> program = List.of();

  private Search() {}

  /** Runs the search; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, InterruptedException {
    Search search = new Search();
    try {
      search.read(args);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.err.println(USAGE);
      System.exit(2);
    }
    System.exit(search.run() ? 0 : 1);
  }

  private void read(String... args) {
    for (int i = 0; i < args.length; i += 2) {
      String name = args[i];
      if (!name.startsWith("--")) {
        program = List.of(args).subList(i, args.length);
        return;
      }
      if (i + 1 == args.length) {
        throw new IllegalArgumentException("Option " + name + " has no value.");
      }
      String value = args[i + 1];
      switch (name) {
        case "--lr" -> rates = value.split(",");
        case "--agent" -> agent = jar(value);
        case "--logs" -> logs = Path.of(value);
        default ->
            throw new IllegalArgumentException(
                "Option " + name + " is unknown; expected --lr, --agent or --logs.");
      }
    }
    throw new IllegalArgumentException("There is no main class to run.");
  }

  private static Path jar(String value) {
    Path file = Path.of(value).toAbsolutePath();
    if (!Files.isRegularFile(file)) {
      throw new IllegalArgumentException("--agent is " + value + ", expected coordl-agent.jar.");
    }
    return file;
  }

  /** Result of one job; loss and accuracy are "-" if it printed none. */
  private record Result(String rate, int exit, double seconds, String loss, String accuracy) {}

  private boolean run() throws IOException, InterruptedException {
    Files.createDirectories(logs);
    System.out.printf(
        Locale.ROOT,
        "%d jobs, %s; their output is in %s%n",
        rates.length,
        agent == null ? "each preparing its own batches" : "preparing each batch once for all",
        logs);
    long start = System.nanoTime();
    ExecutorService pool = Executors.newFixedThreadPool(rates.length);
    List<Future<Result>> jobs = new ArrayList<>();
    for (String rate : rates) {
      Callable<Result> job = () -> job(rate);
      jobs.add(pool.submit(job));
    }
    pool.shutdown();
    List<Result> results = new ArrayList<>();
    for (int i = 0; i < rates.length; i++) {
      try {
        results.add(jobs.get(i).get());
      } catch (ExecutionException e) {
        System.out.println("lr " + rates[i] + ": " + e.getCause());
        results.add(new Result(rates[i], -1, 0, "-", "-"));
      }
    }
    print(results, (System.nanoTime() - start) / 1e9);
    return results.stream().allMatch(result -> result.exit() == 0);
  }

  /** Runs one job to its end; called by a thread of the pool. */
  private Result job(String rate) throws IOException, InterruptedException {
    long start = System.nanoTime();
    ProcessBuilder builder = new ProcessBuilder(command(rate)).redirectErrorStream(true);
    // Divides the cores; by default, libraries use all of them in each job.
    int cores = Runtime.getRuntime().availableProcessors();
    builder
        .environment()
        .putIfAbsent("OMP_NUM_THREADS", Integer.toString(Math.max(1, cores / rates.length)));
    Process process = builder.start();
    Thread killer = new Thread(process::destroy);
    Runtime.getRuntime().addShutdownHook(killer);
    String loss = "-";
    String accuracy = "-";
    try (PrintWriter log = new PrintWriter(Files.newBufferedWriter(logs.resolve(rate + ".log")));
        BufferedReader lines = process.inputReader()) {
      process.getOutputStream().close();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        log.println(line);
        Matcher epoch = EPOCH.matcher(line);
        if (epoch.matches()) {
          System.out.println("lr " + rate + "  " + line);
          loss = epoch.group(2);
          accuracy = epoch.group(3) == null ? "-" : epoch.group(3);
        }
      }
      int exit = process.waitFor();
      Runtime.getRuntime().removeShutdownHook(killer);
      return new Result(rate, exit, (System.nanoTime() - start) / 1e9, loss, accuracy);
    } finally {
      process.destroy();
    }
  }

  private List<String> command(String rate) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    if (agent != null) {
      // Only the jobs of this search share batches.
      command.add(
          "-javaagent:"
              + agent
              + "=prep=coordinate,prep.jobs="
              + rates.length
              + ",group=search-"
              + ProcessHandle.current().pid()
              + ",record="
              + logs.resolve(rate + ".jfr"));
    }
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(program);
    command.addAll(List.of("--lr", rate));
    return command;
  }

  private void print(List<Result> results, double seconds) {
    String row = "  %-13s  %8s  %8s  %8s  %s%n";
    System.out.println();
    System.out.printf(row, "learning rate", "loss", "accuracy", "seconds", "");
    for (Result result : results) {
      System.out.printf(
          row,
          result.rate(),
          result.loss(),
          result.accuracy(),
          String.format(Locale.ROOT, "%.1f", result.seconds()),
          result.exit() == 0
              ? ""
              : "exit status " + result.exit() + ", see " + logs.resolve(result.rate() + ".log"));
    }
    System.out.printf(row, "all", "", "", String.format(Locale.ROOT, "%.1f", seconds), "");
  }
}
