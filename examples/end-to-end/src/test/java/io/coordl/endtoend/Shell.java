package io.coordl.endtoend;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Runs commands of the system. Any thread. */
final class Shell {
  private Shell() {}

  /**
   * Runs a command to its end.
   *
   * @return what it printed
   * @throws IOException with what it printed, if it ends with a status other than 0
   */
  static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(String.join(" ", command) + ": " + out.strip());
    }
    return out;
  }

  /** Whether a command is there and ends with status 0. */
  static boolean works(String... command) throws InterruptedException {
    try {
      Process process =
          new ProcessBuilder(List.of(command))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
