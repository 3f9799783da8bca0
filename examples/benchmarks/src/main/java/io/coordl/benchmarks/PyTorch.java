package io.coordl.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A Python interpreter with PyTorch and torchvision.
 *
 * @param python its command
 * @param versions its versions, to be printed
 */
record PyTorch(String python, String versions) {
  /** Debian's own Python first, because only it has Debian's packages. */
  private static final List<String> CANDIDATES = List.of("/usr/bin/python3", "python3");

  private static final String VERSIONS =
      "import torch, torchvision, platform;"
          + " print('PyTorch', torch.__version__, 'torchvision', torchvision.__version__,"
          + " 'Python', platform.python_version())";

  static Optional<PyTorch> find() throws InterruptedException {
    for (String python : CANDIDATES) {
      try {
        return Optional.of(new PyTorch(python, run(List.of(python, "-c", VERSIONS)).strip()));
      } catch (IOException e) {
        // Missing, or without PyTorch: try the next one.
      }
    }
    return Optional.empty();
  }

  /** Runs a script with a command prefix that pins it to cores; returns its output. */
  String run(List<String> pinned, String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(pinned);
    command.add(python);
    command.addAll(List.of(arguments));
    return run(command);
  }

  private static String run(List<String> command) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("OMP_NUM_THREADS", "1");
    Process process = builder.start();
    try {
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IOException(String.join(" ", command) + " failed: " + out);
      }
      return out;
    } finally {
      process.destroyForcibly();
    }
  }
}
