package io.coordl.endtoend;

import io.coordl.endtoend.Job.Finished;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** A job that runs in parallel with the test; closing kills it if it is still running. */
final class Running implements AutoCloseable {
  private final Job job;
  private final FutureTask<Finished> end;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final CompletableFuture<ProcessHandle> jvm = new CompletableFuture<>();

  private Running(Job job) {
    this.job = job;
    this.end = new FutureTask<>(job::run);
  }

  /** Starts the job. */
  static Running start(Job job) {
    Running running = new Running(job);
    job.onLine(running.lines::add);
    Thread thread = new Thread(running.end, "job " + job.log().getFileName());
    thread.setDaemon(true);
    thread.start();
    return running;
  }

  /** Waits until the job prints that another epoch has ended. */
  void awaitEpoch() throws InterruptedException {
    long deadline = System.nanoTime() + Workshop.PATIENCE.toNanos();
    while (true) {
      String line = lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (line == null) {
        throw new AssertionError("The job " + job.log() + " finishes no epoch.");
      }
      if (line.startsWith("epoch ")) {
        return;
      }
    }
  }

  /** Waits until the job maps the file or ends. */
  void awaitMapped(Path file) throws IOException {
    await(() -> end.isDone() || maps(jvm().pid()).contains(file.toString()));
  }

  private static String maps(long pid) {
    try {
      return Files.readString(Path.of("/proc/" + pid + "/maps"));
    } catch (IOException e) {
      return "";
    }
  }

  /** Sends a signal, such as KILL, to the JVM. */
  void signal(String name) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, Long.toString(jvm().pid())).start().waitFor();
  }

  /** Waits for the job's end, successful or not. */
  Finished await() throws InterruptedException {
    try {
      return end.get(Workshop.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new AssertionError("The job " + job.log() + " does not end.", e);
    }
  }

  long pid() {
    return jvm().pid();
  }

  /** Returns the JVM, a descendant of the shell that measures it. */
  private ProcessHandle jvm() {
    if (!jvm.isDone()) {
      await(
          () -> {
            ProcessHandle.current()
                .descendants()
                .filter(this::isJvm)
                .findFirst()
                .ifPresent(jvm::complete);
            return jvm.isDone();
          });
    }
    return jvm.join();
  }

  private boolean isJvm(ProcessHandle process) {
    try {
      return process.info().command().orElse("").endsWith("/java")
          && Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"))
              .contains(job.log().toString());
    } catch (IOException e) {
      return false;
    }
  }

  /** Waits until the condition holds. */
  static void await(BooleanSupplier condition) {
    await(() -> "", condition);
  }

  /** As above; {@code instead} describes the actual state if the wait is in vain. */
  static void await(Supplier<String> instead, BooleanSupplier condition) {
    long deadline = System.nanoTime() + Workshop.PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("Waited for " + Workshop.PATIENCE + " in vain. " + instead.get());
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Override
  public void close() {
    if (!end.isDone()) {
      jvm().destroyForcibly();
      jvm().onExit().join();
    }
  }
}
