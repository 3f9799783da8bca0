package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdk;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The command-line tool of a checkout; each command runs in its own process, started by the
 * launcher.
 */
record CoordlTool(Checkout checkout) {
  private static final Duration LONGEST_PROFILE = Duration.ofHours(2);

  /** Returns a command to run on {@code jdk}. */
  ChildJvm command(Jdk jdk, String... arguments) {
    return ChildJvm.script(jdk, checkout.coordl())
        .args(arguments)
        .environment("OMP_NUM_THREADS", "1")
        .timeout(LONGEST_PROFILE);
  }

  /** Runs a command and returns its output; throws if it fails. */
  String run(String... arguments) throws IOException, InterruptedException {
    return command(Jdks.running(), arguments).run().orFail("coordl " + arguments[0]).out();
  }

  /** Profiles a job, which must train until the profile ends, and prints the result. */
  void profile(Path recording, ChildJvm job) throws IOException, InterruptedException {
    System.out.println(profiling(recording, job).run().orFail("coordl profile").out());
  }

  /** Returns a command that profiles a job with more options. */
  ChildJvm profiling(Path recording, ChildJvm job, String... options) throws IOException {
    Files.deleteIfExists(recording);
    return command(Jdks.running(), "profile", "--agent", checkout.agentJar().toString())
        .args("-o", recording.toString())
        .args(options)
        .args("--")
        .args(job.commandLine().toArray(String[]::new)); // As a user would type it.
  }
}
