package io.coordl.endtoend;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Runs system commands. Any thread. */
final class Shell {
  private static final long LIMIT_SECONDS = Workshop.MAX_DURATION.toSeconds();

  private Shell() {}

  /**
   * Runs a command to its end.
   *
   * @return its output
   * @throws IOException if it cannot be started, takes too long or fails; contains its output
   */
  static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    // Another thread enforces the limit; killing the process ends the read below.
    AtomicBoolean late = new AtomicBoolean();
    CompletableFuture<Void> deadline =
        CompletableFuture.runAsync(
            () -> {
              late.set(true);
              process.descendants().forEach(ProcessHandle::destroyForcibly);
              process.destroyForcibly();
            },
            CompletableFuture.delayedExecutor(LIMIT_SECONDS, TimeUnit.SECONDS));
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int status = process.waitFor();
    deadline.cancel(false);
    if (status != 0 || late.get()) {
      throw new IOException(
          String.join(" ", command)
              + (late.get() ? " did not end within " + LIMIT_SECONDS + " s: " : ": ")
              + out.strip());
    }
    return out;
  }

  /** Whether a command exists and its exit status is 0. */
  static boolean works(String... command) throws InterruptedException {
    try {
      run(command);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
