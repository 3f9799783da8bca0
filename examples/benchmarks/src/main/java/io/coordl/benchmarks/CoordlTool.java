package io.coordl.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line tool, each command in a process of its own. */
final class CoordlTool {
  private final Checkout checkout;
  private final Path errors;

  /**
   * The checkout's own.
   *
   * @param work a directory for what commands say on their standard error
   */
  CoordlTool(Checkout checkout, Path work) {
    this.checkout = checkout;
    this.errors = work.resolve("coordl.err");
  }

  /** What a command printed; an exception if it failed. */
  String run(String... arguments) throws IOException, InterruptedException {
    return run(List.of(arguments));
  }

  /** Profiles a job, and prints what came of it. The job is to train until the profile is made. */
  void profile(Path recording, ChildJvm job) throws IOException, InterruptedException {
    Files.deleteIfExists(recording);
    List<String> command =
        new ArrayList<>(
            List.of(
                "profile",
                "--agent",
                checkout.agentJar().toString(),
                "-o",
                recording.toString(),
                "--"));
    command.addAll(job.commandLine()); // As a user would type it.
    System.out.println(run(command));
  }

  private String run(List<String> arguments) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(Jdks.running().java().toString(), "-jar", checkout.coordlJar().toString()));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
    builder.environment().put("OMP_NUM_THREADS", "1");
    Process process = builder.start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int exit = process.waitFor();
    if (exit != 0) {
      throw new IllegalStateException(
          "coordl "
              + arguments.get(0)
              + " ended with exit status "
              + exit
              + ": "
              + Files.readString(errors));
    }
    return out;
  }
}
