package io.coordl.endtoend;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The test program that reads and checks items, running in parallel with the test; closing kills it
 * if it is still running. Not thread-safe.
 */
final class Reader implements AutoCloseable {
  private final String name;
  private final Path log;
  private final Path stop;
  private final FutureTask<ChildResult> end;
  private final AtomicInteger epochs = new AtomicInteger();
  private final CompletableFuture<ProcessHandle> started = new CompletableFuture<>();

  /** The {@code patience} of readers whose reads are counted. */
  static final int PATIENT = 25;

  /**
   * How a reader reads.
   *
   * @param epochs number of epochs; 0 for no limit
   * @param patience factor for the time-outs of requests to other hosts
   */
  record Plan(Jdk jdk, int epochs, long seed, int pauseMicros, int patience) {}

  /** Start (since 1970) and duration of a fetch, in microseconds. */
  record Fetch(long startMicros, long micros) {
    long endMicros() {
      return startMicros + micros;
    }
  }

  private Reader(String name, Path directory, ChildJvm jvm) {
    this.name = name;
    this.log = directory.resolve(name + ".fetches");
    this.stop = directory.resolve(name + ".stop");
    this.end = new FutureTask<>(jvm::run);
  }

  /**
   * Starts a reader on a host's copy of a data set.
   *
   * @param arguments arguments of the agent; empty for no agent
   * @param trace command that traces its reads; empty for none
   */
  static Reader start(
      Hosts.Host host,
      String name,
      Path data,
      ItemSet items,
      String arguments,
      Plan plan,
      List<String> trace)
      throws IOException {
    ChildJvm jvm =
        new ChildJvm(plan.jdk(), "example.reads.ReadItems")
            .classPath(Workshop.checkout().testPrograms())
            .jvmArgs("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
            .jvmArgs("-Dcoordl.peer.patience=" + plan.patience())
            .environment("COORDL_OPTS", "")
            .environment("SLURM_JOB_NODELIST", host.nodeList())
            .timeout(Workshop.MAX_DURATION)
            .directory(host.directory())
            .wrapper(host.command())
            .wrapper(trace);
    if (!arguments.isEmpty()) {
      jvm.agent(Workshop.checkout().agentJar(), "record=off,dataset=" + data + "," + arguments);
    }
    Reader reader = new Reader(name, host.directory(), jvm);
    Files.deleteIfExists(reader.stop);
    jvm.args(
        data.toString(),
        items.sums().toString(),
        reader.log.toString(),
        reader.stop.toString(),
        Integer.toString(plan.epochs()),
        Long.toString(plan.seed()),
        Integer.toString(plan.pauseMicros()));
    jvm.started(reader.started::complete);
    jvm.echo(reader::onLine);
    Thread thread = new Thread(reader.end, name);
    thread.setDaemon(true);
    thread.start();
    return reader;
  }

  private void onLine(String line) {
    if (line.startsWith("epoch ")) {
      epochs.incrementAndGet();
    }
    if (Boolean.getBoolean("coordl.echo")) {
      System.out.println(name + ": " + line);
    }
  }

  String name() {
    return name;
  }

  /** Returns the number of finished epochs. */
  int epochs() {
    return epochs.get();
  }

  /** Waits until it has begun and finished {@code more} epochs from now on. */
  void awaitWholeEpochs(int more) throws InterruptedException {
    awaitEpochs(epochs() + 1 + more);
  }

  /** Waits until it has finished {@code wanted} epochs in total. */
  void awaitEpochs(int wanted) throws InterruptedException {
    long deadline = System.nanoTime() + Workshop.PATIENCE.toNanos();
    while (epochs() < wanted) {
      if (end.isDone() || System.nanoTime() - deadline > 0) {
        throw new AssertionError(
            name + " finishes no epoch" + (end.isDone() ? "; it ended: " + result() : ""));
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Sends a signal, such as KILL, to the JVM. */
  void signal(String signal) throws IOException, InterruptedException {
    Shell.run("kill", "-" + signal, Long.toString(jvm().pid()));
  }

  /** Process id of the JVM. */
  long pid() {
    return jvm().pid();
  }

  /** Returns the JVM: the started process or a descendant of it. */
  private ProcessHandle jvm() {
    ProcessHandle process = started.join();
    return Stream.concat(Stream.of(process), process.descendants())
        .filter(one -> one.info().command().orElse("").endsWith("/java"))
        .findFirst()
        .orElseThrow(() -> new AssertionError(name + " does not run"));
  }

  /** Lets the reader end after its epochs, or after the current one if it has no limit. */
  void requestStop() throws IOException {
    Files.writeString(stop, "");
  }

  /** Waits for its end and fails unless it succeeded. */
  ChildResult awaitSuccess() throws InterruptedException {
    return await().orFail(name);
  }

  /** Waits for its end. */
  ChildResult await() throws InterruptedException {
    try {
      return end.get(Workshop.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new AssertionError(name + " does not end", e);
    }
  }

  private ChildResult result() throws InterruptedException {
    try {
      return end.get();
    } catch (ExecutionException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the agent's lines, without the prefix. */
  static List<String> agentLines(ChildResult result) {
    return result
        .err()
        .lines()
        .filter(line -> line.startsWith("[coordl] "))
        .map(line -> line.substring("[coordl] ".length()))
        .toList();
  }

  /** Returns the fetches that the log contains so far. */
  List<Fetch> fetches() throws IOException {
    List<Fetch> fetches = new ArrayList<>();
    String text = Files.readString(log);
    for (String line : text.substring(0, text.lastIndexOf('\n') + 1).lines().toList()) {
      int blank = line.indexOf(' ');
      fetches.add(
          new Fetch(
              Long.parseLong(line.substring(0, blank)), Long.parseLong(line.substring(blank + 1))));
    }
    return fetches;
  }

  @Override
  public void close() {
    if (!end.isDone()) {
      ProcessHandle process = started.join();
      List<ProcessHandle> all = Stream.concat(process.descendants(), Stream.of(process)).toList();
      all.forEach(ProcessHandle::destroyForcibly);
      all.forEach(one -> one.onExit().join());
    }
  }
}
