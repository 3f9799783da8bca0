package io.coordl.host;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A job in a separate JVM, stopped while it sets up a shared file. Argument: {@code file}. Holds
 * the setup lock until its input ends.
 */
public final class SetupHolder implements AutoCloseable {
  private final Process process;

  /** Returns once the file is locked and the job stopped. */
  public SetupHolder(Path file) throws Exception {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx32m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                SetupHolder.class.getName(),
                file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String line = process.inputReader().readLine();
    if (!"locked".equals(line)) {
      process.destroyForcibly();
      throw new IOException("the other job could not lock " + file + ": " + line);
    }
    signal("STOP");
  }

  private void signal(String name) throws Exception {
    List<String> kill = new ArrayList<>(List.of("kill", "-" + name));
    kill.add(Long.toString(process.pid()));
    int status = new ProcessBuilder(kill).inheritIO().start().waitFor();
    if (status != 0) {
      throw new IOException(kill + " ended with " + status);
    }
  }

  /** Lets the job continue and leave; returns once it has ended. */
  public void resume() throws Exception {
    signal("CONT");
    process.getOutputStream().close();
    process.waitFor();
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }

  /** The job. */
  public static void main(String[] args) throws Exception {
    try (FileChannel channel =
        FileChannel.open(
            Path.of(args[0]),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      System.out.println(
          new Liveness(channel).lockSetup(Duration.ofMinutes(1)) ? "locked" : "not locked");
      while (System.in.read() >= 0) {}
    }
  }
}
