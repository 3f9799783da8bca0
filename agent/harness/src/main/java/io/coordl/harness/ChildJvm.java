package io.coordl.harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Java program that runs in its own process. Set it up, then call {@link #run()} any number of
 * times. Not thread-safe; different objects may run at the same time.
 *
 * <p>Bash's {@code time} measures CPU time from outside, to a millisecond, including JVM start-up
 * and shutdown. Without bash, CPU time is unknown.
 */
public final class ChildJvm {
  private static final Path BASH = Path.of("/bin/bash");

  /** $0 is the file for the times, "$@" the command, file descriptor 3 its standard error. */
  private static final String TIMED =
      "exec 3>&2; TIMEFORMAT='%3U %3S'; { time \"$@\" 2>&3; } 2>\"$0\"";

  /** Time for a JVM to print its threads. */
  private static final long DUMP_SECONDS = 2;

  private static final Map<List<String>, FutureTask<ChildResult>> ONCE = new ConcurrentHashMap<>();

  private final Jdk jdk;
  private final String mainClass;
  private final List<String> jvmArgs = new ArrayList<>();
  private final List<String> args = new ArrayList<>();
  private final List<String> wrapper = new ArrayList<>();
  private final Map<String, String> environment = new LinkedHashMap<>();
  private final Set<String> removed = new TreeSet<>();
  private String classPath = "";
  private @Nullable String agent;
  private @Nullable Path script;
  private @Nullable Path directory;
  private Duration timeout = Duration.ofMinutes(10);
  private Consumer<String> echo = line -> {};
  private Consumer<ProcessHandle> started = process -> {};

  /** Creates a program that runs {@code mainClass} on {@code jdk}. */
  public ChildJvm(Jdk jdk, String mainClass) {
    this.jdk = jdk;
    this.mainClass = mainClass;
  }

  /**
   * Returns a program that {@code script} starts on {@code jdk}; the script itself sets the JVM
   * arguments and the class path.
   */
  public static ChildJvm script(Jdk jdk, Path script) {
    ChildJvm program = new ChildJvm(jdk, "");
    program.script = script;
    return program.environment("JAVA_HOME", jdk.home().toString());
  }

  /** Adds entries to the class path. */
  public ChildJvm classPath(Path... entries) {
    for (Path entry : entries) {
      addToClassPath(entry.toString());
    }
    return this;
  }

  /** Adds the class path that Maven wrote to {@code file}. */
  public ChildJvm classPathFile(Path file) throws IOException {
    addToClassPath(Files.readString(file).strip());
    return this;
  }

  private void addToClassPath(String entries) {
    classPath = classPath.isEmpty() ? entries : classPath + ":" + entries;
  }

  /** Attaches the agent {@code jar}; {@code agentArgs} may be empty. */
  public ChildJvm agent(Path jar, String agentArgs) {
    agent = "-javaagent:" + jar + (agentArgs.isEmpty() ? "" : "=" + agentArgs);
    return this;
  }

  /** Adds JVM arguments. */
  public ChildJvm jvmArgs(String... more) {
    jvmArgs.addAll(List.of(more));
    return this;
  }

  /** Adds program arguments. */
  public ChildJvm args(String... more) {
    args.addAll(List.of(more));
    return this;
  }

  /** Sets a variable of the program's environment. */
  public ChildJvm environment(String name, String value) {
    environment.put(name, value);
    return this;
  }

  /** Removes a variable from the program's environment, inherited or set before. */
  public ChildJvm withoutEnvironment(String name) {
    environment.remove(name);
    removed.add(name);
    return this;
  }

  /** Runs in {@code path} instead of the current directory. */
  public ChildJvm directory(Path path) {
    directory = path;
    return this;
  }

  /**
   * Prefixes the command line with {@code command}, such as a tracer; its CPU time is not counted.
   */
  public ChildJvm wrapper(List<String> command) {
    wrapper.addAll(command);
    return this;
  }

  /**
   * Kills the program and its child processes after {@code limit}, 10 minutes by default. Its
   * output then ends with a dump of its threads.
   */
  public ChildJvm timeout(Duration limit) {
    timeout = limit;
    return this;
  }

  /** Passes each line of output immediately to {@code listener}, which two threads call. */
  public ChildJvm echo(Consumer<String> listener) {
    echo = listener;
    return this;
  }

  /** Passes the started process, of which the JVM is a descendant, to {@code listener}. */
  public ChildJvm started(Consumer<ProcessHandle> listener) {
    started = listener;
    return this;
  }

  /**
   * Like {@link #run()}, but runs each combination of command line, environment and directory only
   * once; later calls return the same result.
   *
   * @throws ExecutionException if the program could not be started
   */
  public ChildResult runOnce() throws ExecutionException, InterruptedException {
    List<String> key = commandLine();
    key.add(environment + " without " + removed + " in " + directory);
    FutureTask<ChildResult> result =
        ONCE.computeIfAbsent(key, program -> new FutureTask<>(this::run));
    result.run();
    return result.get();
  }

  /**
   * Runs the program to its end.
   *
   * @throws IOException if it cannot be started
   */
  public ChildResult run() throws IOException, InterruptedException {
    Path times = Files.createTempFile("child-jvm", ".time");
    try {
      ProcessBuilder builder = new ProcessBuilder(command(times));
      builder.environment().keySet().removeAll(removed);
      builder.environment().putAll(environment);
      // The caller's environment must not change what is measured.
      builder.environment().remove("JAVA_TOOL_OPTIONS");
      if (directory != null) {
        builder.directory(directory.toFile());
      }
      long start = System.nanoTime();
      Process process = builder.start();
      started.accept(process.toHandle());
      process.getOutputStream().close();
      Reader out = new Reader(process.getInputStream());
      Reader err = new Reader(process.getErrorStream());
      boolean ended = false;
      try {
        ended = process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
      } finally {
        if (!ended) {
          dumpThreads(process.toHandle());
          killTree(process.toHandle());
        }
      }
      int exit = process.waitFor();
      Duration wall = Duration.ofNanos(System.nanoTime() - start);
      return new ChildResult(
          exit, !ended, out.text(), err.text(), wall, cpuSeconds(Files.readString(times)));
    } finally {
      Files.deleteIfExists(times);
    }
  }

  private List<String> command(Path times) {
    List<String> command = new ArrayList<>(wrapper);
    if (Files.isExecutable(BASH)) {
      command.addAll(List.of(BASH.toString(), "-c", TIMED, times.toString()));
    }
    command.addAll(commandLine());
    return command;
  }

  /** Returns the program's own command, as a user would type it, without any wrapper. */
  public List<String> commandLine() {
    List<String> command = new ArrayList<>();
    if (script != null) {
      command.add(script.toString());
    } else {
      command.add(jdk.java().toString());
      if (agent != null) {
        command.add(agent);
      }
      command.addAll(jvmArgs);
      command.addAll(List.of("-cp", classPath, mainClass));
    }
    command.addAll(args);
    return command;
  }

  /** Requests a thread dump of each JVM on its standard output, and waits a moment. */
  private static void dumpThreads(ProcessHandle process) throws InterruptedException {
    for (ProcessHandle child : Stream.concat(Stream.of(process), process.descendants()).toList()) {
      String command = child.info().command().orElse("");
      if (command.endsWith("/java")) {
        try {
          new ProcessBuilder("kill", "-QUIT", Long.toString(child.pid()))
              .start()
              .waitFor(DUMP_SECONDS, TimeUnit.SECONDS);
          child.onExit().get(DUMP_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
          // As expected: the JVM is still running and has had time to print.
        } catch (IOException | ExecutionException e) {
          return; // No dump, then.
        }
      }
    }
  }

  private static void killTree(ProcessHandle process) {
    // Children first, while they can still be found through their parent.
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  private static double cpuSeconds(String times) {
    // Bash reports a killed JVM first; the times are the last line.
    String[] lines = times.strip().split("\n", -1);
    String[] userAndSystem = lines[lines.length - 1].strip().split(" ", -1);
    if (userAndSystem.length != 2) {
      return Double.NaN;
    }
    try {
      return Double.parseDouble(userAndSystem[0].replace(',', '.'))
          + Double.parseDouble(userAndSystem[1].replace(',', '.'));
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  /** Drains one stream, so that the child never blocks on a full pipe. */
  private final class Reader {
    // Written by the thread, read after it ends.
    private final StringBuilder text = new StringBuilder();
    private final Thread thread;

    Reader(InputStream stream) {
      thread = new Thread(() -> drain(stream), "child-output");
      thread.setDaemon(true);
      thread.start();
    }

    private void drain(InputStream stream) {
      try (BufferedReader reader =
          new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
          text.append(line).append('\n');
          echo.accept(line);
        }
      } catch (IOException e) {
        text.append("(reading the output failed: ").append(e.getMessage()).append(")\n");
      }
    }

    String text() throws InterruptedException {
      thread.join();
      return text.toString();
    }
  }
}
