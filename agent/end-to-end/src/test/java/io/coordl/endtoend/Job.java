package io.coordl.endtoend;

import io.coordl.harness.BatchLogs;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * An example as a small, reproducible job in its own JVM: seeded, one native thread, batches loaded
 * on the training thread (DL4J: on its one prefetch thread). Call setters only before {@link
 * #run()}. Not thread-safe.
 */
final class Job {
  /** Number of epochs. */
  static final int EPOCHS = 3;

  private final Path directory;
  private final String name;
  private final ChildJvm child;

  /** The example of {@code framework}, with its files in {@code directory}. */
  Job(Framework framework, Jdk jdk, Path directory, String name) throws IOException {
    this(framework, jdk, directory, name, Pictures.all(), EPOCHS);
  }

  /** The example on other pictures. */
  Job(Framework framework, Jdk jdk, Path directory, String name, Pictures pictures, int epochs)
      throws IOException {
    this(framework, child(framework, jdk), directory, name, pictures, epochs);
  }

  private Job(
      Framework framework,
      ChildJvm program,
      Path directory,
      String name,
      Pictures pictures,
      int epochs)
      throws IOException {
    this.directory = directory;
    this.name = name;
    if (framework == Framework.DJL) {
      Natives.unpack();
    }
    child = program;
    child.directory(directory);
    child.args(
        "--data", pictures.directory().toString(),
        "--log", log().toString(),
        "--epochs", Integer.toString(epochs),
        "--batch", "16",
        "--seed", "1");
    child.args(framework.small());
  }

  /** Returns the DJL example in a fat jar, started by {@code launcher}. */
  static Job ofFatJar(Path jar, String launcher, Jdk jdk, Path directory, String name)
      throws IOException {
    ChildJvm program = settings(new ChildJvm(jdk, launcher).classPath(jar), jdk);
    return new Job(Framework.DJL, program, directory, name, Pictures.all(), EPOCHS);
  }

  /** Runs the hyper-parameter search with the example of {@code framework}. */
  static ChildResult search(Framework framework, Jdk jdk, Path directory, List<String> options)
      throws IOException, InterruptedException {
    if (framework == Framework.DJL) {
      Natives.unpack();
    }
    String pictures = Pictures.all().directory().toString();
    ChildJvm search =
        new ChildJvm(jdk, "example.search.Search")
            .classPath(Workshop.checkout().exampleJar("hyperparameter-search"))
            .classPath(Workshop.checkout().exampleJar(framework.module()))
            .classPathFile(Workshop.checkout().exampleClassPath(framework.module()));
    return settings(search, jdk)
        .directory(directory)
        .args(options.toArray(new String[0]))
        .args(framework.mainClass(), "--data", pictures, "--validate", pictures)
        .args("--epochs", Integer.toString(EPOCHS), "--batch", "16")
        .args(framework.small())
        .run();
  }

  /** Runs the example with {@code more} arguments and without the agent, once for all tests. */
  static Finished plain(Framework framework, Jdk jdk, String... more)
      throws IOException, InterruptedException {
    String arguments = String.join("", more).replace("-", "");
    Path directory =
        Workshop.directory("plain-" + framework + "-" + jdk.version() + "-" + arguments);
    Job job = new Job(framework, jdk, directory, "plain").args(more);
    try {
      ChildResult result = job.child.runOnce().orFail("The plain job " + job.log());
      return new Finished(result, job.log(), job.recording());
    } catch (ExecutionException e) {
      throw new IOException("The plain job " + job.log() + " did not start", e);
    }
  }

  private static ChildJvm child(Framework framework, Jdk jdk) throws IOException {
    return settings(
        new ChildJvm(jdk, framework.mainClass())
            .classPath(Workshop.checkout().exampleJar(framework.module()))
            .classPathFile(Workshop.checkout().exampleClassPath(framework.module())),
        jdk);
  }

  private static ChildJvm settings(ChildJvm program, Jdk jdk) {
    ChildJvm child =
        program
            .jvmArgs(Workshop.fast())
            .jvmArgs(
                "-Xmx512m",
                "-Dai.djl.offline=true",
                "-DDJL_CACHE_DIR=" + Workshop.checkout().work("djl-cache"),
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                SameOutput.keepsBytes())
            .environment("OMP_NUM_THREADS", "1")
            .timeout(Workshop.MAX_DURATION)
            .environment("COORDL_OPTS", "");
    return jdk.feature() >= 24 ? child.jvmArgs("--enable-native-access=ALL-UNNAMED") : child;
  }

  /** DJL unpacks 442 MB of natives at first use; concurrent jobs would race. */
  private static final class Natives {
    private static boolean unpacked;

    static synchronized void unpack() throws IOException {
      if (!unpacked) {
        try {
          child(Framework.DJL, Jdks.running())
              .args("--data", Pictures.all().directory().toString(), "--epochs", "0")
              .run()
              .orFail("The job that unpacks DJL's natives");
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
        unpacked = true;
      }
    }
  }

  /** Attaches the agent, which records to {@link #recording()}; {@code arguments} may be empty. */
  Job agent(String arguments) {
    return agentAsGiven("record=" + recording() + (arguments.isEmpty() ? "" : "," + arguments));
  }

  /** Attaches the agent with exactly these {@code arguments}. */
  Job agentAsGiven(String arguments) {
    child.agent(Workshop.checkout().agentJar(), arguments);
    return this;
  }

  /** Adds arguments of the example. */
  Job args(String... more) {
    child.args(more);
    return this;
  }

  /** Adds arguments of the JVM. */
  Job jvmArgs(String... more) {
    child.jvmArgs(more);
    return this;
  }

  /** Prefixes the job's command line with a command. */
  Job wrapper(List<String> command) {
    child.wrapper(command);
    return this;
  }

  /** Calls {@code then} when the job prints that the epoch has ended; the job keeps running. */
  Job afterEpoch(int epoch, Action then) {
    return onLine(
        line -> {
          if (line.startsWith("epoch " + epoch + ":")) {
            try {
              then.run();
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        });
  }

  /** Passes each line of the job's output to {@code listener} as soon as it is printed. */
  Job onLine(Consumer<String> listener) {
    child.echo(listener);
    return this;
  }

  /** An action that may fail. */
  interface Action {
    /** Runs the action. */
    void run() throws IOException;
  }

  /** Returns the log of every step's batch and loss. */
  Path log() {
    return directory.resolve(name + ".log");
  }

  /** Returns the recording of the agent. */
  Path recording() {
    return directory.resolve(name + ".jfr");
  }

  /** Runs to the end, successful or not. */
  Finished run() throws IOException, InterruptedException {
    return new Finished(child.run(), log(), recording());
  }

  /** Runs to the end and fails unless the job succeeds. */
  Finished runWell() throws IOException, InterruptedException {
    Finished finished = run();
    finished.result().orFail("The job " + log());
    return finished;
  }

  /** A job that has ended. */
  record Finished(ChildResult result, Path log, Path recording) {
    /** Returns the log's line about each batch. */
    List<String> batches() throws IOException {
      return Files.readAllLines(log).stream().filter(line -> line.startsWith("batch ")).toList();
    }

    /**
     * Returns the first difference from a job that must have the same batches and losses; empty if
     * there is none.
     */
    String differenceFrom(Finished plain) throws IOException {
      String first = BatchLogs.firstDifference(plain.log(), log).orElse("");
      return first.isEmpty()
          ? ""
          : first
              + "\n"
              + SameOutput.difference(
                  String.join("\n", plain.batches()), String.join("\n", batches()));
    }

    /** Returns the agent's lines, without the prefix. */
    List<String> agentLines() {
      return result
          .err()
          .lines()
          .filter(line -> line.startsWith("[coordl] "))
          .map(line -> line.substring("[coordl] ".length()))
          .toList();
    }
  }
}
