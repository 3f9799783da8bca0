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
 * An example as a small job in a JVM of its own that is the same every time: seeded, natives of one
 * thread, batches loaded where they are used (DL4J: on its one prefetch thread). A setter may be
 * called before {@link #run()} only; one thread.
 */
final class Job {
  /** Passes over the data set. */
  static final int EPOCHS = 3;

  private final Path directory;
  private final String name;
  private final ChildJvm child;

  /** The example of {@code framework}, which keeps its files in {@code directory}. */
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

  /** The example of DJL, all of it in {@code jar}, which {@code launcher} starts. */
  static Job ofFatJar(Path jar, String launcher, Jdk jdk, Path directory, String name)
      throws IOException {
    ChildJvm program = settings(new ChildJvm(jdk, launcher).classPath(jar), jdk);
    return new Job(Framework.DJL, program, directory, name, Pictures.all(), EPOCHS);
  }

  /** The example of a search, over the example of {@code framework}, run to its end. */
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

  /** The example without the agent, with {@code more} arguments: run once for all tests. */
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
            .jvmArgs(Workshop.soon())
            .jvmArgs(
                "-Xmx512m",
                "-Dai.djl.offline=true",
                "-DDJL_CACHE_DIR=" + Workshop.checkout().work("djl-cache"),
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                SameOutput.keepsBytes())
            .environment("OMP_NUM_THREADS", "1")
            .timeout(Workshop.LONGEST)
            .environment("COORDL_OPTS", "");
    return jdk.feature() >= 24 ? child.jvmArgs("--enable-native-access=ALL-UNNAMED") : child;
  }

  /** DJL unpacks 442 MB of natives when first used; jobs that start together would race. */
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

  /** Attaches the agent; its recording is {@link #recording()}, its arguments may be empty. */
  Job agent(String arguments) {
    return agentAsGiven("record=" + recording() + (arguments.isEmpty() ? "" : "," + arguments));
  }

  /** Attaches the agent with nothing but {@code arguments}. */
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

  /** Puts a command in front. */
  Job wrapper(List<String> command) {
    child.wrapper(command);
    return this;
  }

  /** Calls {@code then} when the job says that it has finished the epoch, while it goes on. */
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

  /** Shows each line of the job's output to {@code listener} as it comes. */
  Job onLine(Consumer<String> listener) {
    child.echo(listener);
    return this;
  }

  /** Something that may fail. */
  interface Action {
    /** Does it. */
    void run() throws IOException;
  }

  /** What every step was fed and what it lost. */
  Path log() {
    return directory.resolve(name + ".log");
  }

  /** The recording of the agent. */
  Path recording() {
    return directory.resolve(name + ".jfr");
  }

  /** Runs to the end, whatever that is. */
  Finished run() throws IOException, InterruptedException {
    return new Finished(child.run(), log(), recording());
  }

  /** Runs to an end that has to be good. */
  Finished runWell() throws IOException, InterruptedException {
    Finished finished = run();
    finished.result().orFail("The job " + log());
    return finished;
  }

  /** A job that has ended. */
  record Finished(ChildResult result, Path log, Path recording) {
    /** Each batch of the log, as a line. */
    List<String> batches() throws IOException {
      return Files.readAllLines(log).stream().filter(line -> line.startsWith("batch ")).toList();
    }

    /** How this differs from a job that was fed and lost the same; empty if it does not. */
    String differenceFrom(Finished plain) throws IOException {
      String first = BatchLogs.firstDifference(plain.log(), log).orElse("");
      return first.isEmpty()
          ? ""
          : first
              + "\n"
              + SameOutput.difference(
                  String.join("\n", plain.batches()), String.join("\n", batches()));
    }

    /** What the agent said, without its mark. */
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
