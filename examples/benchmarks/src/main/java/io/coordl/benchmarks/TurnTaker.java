package io.coordl.benchmarks;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A job that takes turns with others. Between its turns it is stopped (SIGSTOP), retains its
 * caches, compiled code and queues, and uses no core. So several jobs can share a machine as if
 * each ran alone, and a change in the machine's speed affects all of them. Used by one thread.
 */
final class TurnTaker implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final int TAIL = 2000;

  /**
   * A line of the job.
   *
   * @param nanos time of arrival, {@link System#nanoTime}
   * @param text null at the job's end
   */
  record Line(long nanos, @Nullable String text) {}

  private final String name;
  private final BlockingQueue<Line> lines = new LinkedBlockingQueue<>();
  private final Thread runner;
  private final Thread atExit = new Thread(this::kill);
  private volatile @Nullable ProcessHandle process;
  private volatile boolean closed;
  private volatile String end = "";

  /** Starts a job, which runs until it is paused or closed. */
  TurnTaker(String name, ChildJvm job) {
    this.name = name;
    job.started(handle -> process = handle)
        .timeout(Duration.ofHours(1))
        .echo(line -> lines.add(new Line(System.nanoTime(), line)));
    runner = new Thread(() -> run(job), name);
    runner.setDaemon(true);
    Runtime.getRuntime().addShutdownHook(atExit);
    runner.start();
  }

  private void run(ChildJvm job) {
    try {
      ChildResult result = job.run();
      String all = result.err() + result.out();
      end = "exit status " + result.exit() + ": " + all.substring(Math.max(0, all.length() - TAIL));
    } catch (IOException e) {
      end = e.toString();
    } catch (InterruptedException e) {
      end = "interrupted";
    }
    lines.add(new Line(System.nanoTime(), null));
  }

  /**
   * Waits for the next line with this prefix and returns it.
   *
   * @throws IllegalStateException if the job ends first, or prints nothing for five minutes
   */
  Line await(String beginning) throws InterruptedException {
    while (true) {
      Line line = lines.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      if (line == null) {
        throw new IllegalStateException(
            name + " printed nothing for " + PATIENCE.toMinutes() + " minutes.");
      }
      if (line.text == null) {
        throw new IllegalStateException(name + " ended, " + end);
      }
      if (line.text.startsWith(beginning)) {
        return line;
      }
    }
  }

  /** Resumes the job; discards its earlier output. */
  void resume() throws IOException, InterruptedException {
    lines.removeIf(line -> line.text != null);
    signal("CONT");
  }

  /** Pauses the job. */
  void pause() throws IOException, InterruptedException {
    signal("STOP");
  }

  private void signal(String signal) throws IOException, InterruptedException {
    ProcessHandle known = process;
    ProcessHandle jvm =
        Stream.concat(Stream.ofNullable(known), known == null ? Stream.of() : known.descendants())
            .filter(each -> each.info().command().orElse("").endsWith("/java"))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException(name + " has no JVM: " + end));
    SlowStorage.run("kill", "-" + signal, Long.toString(jvm.pid()));
  }

  private void kill() {
    ProcessHandle known = process;
    if (known != null) {
      known.descendants().forEach(ProcessHandle::destroyForcibly);
      known.destroyForcibly();
    }
  }

  /** Kills the job. */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    kill();
    ShutdownHooks.remove(atExit);
    try {
      runner.join(TimeUnit.SECONDS.toMillis(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
