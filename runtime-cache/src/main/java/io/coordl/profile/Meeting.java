package io.coordl.profile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Where several instances of a program wait for each other: a directory, in which each makes a file
 * when it has come so far. Nobody is held up here: who waits goes on with what it does, and asks
 * again.
 */
final class Meeting {
  private final Path directory;
  private final int instances;

  Meeting(Accelerator of) {
    this.directory = of.meeting();
    this.instances = of.instances();
  }

  /** This instance has come so far. */
  void come(String stage) throws IOException {
    if (instances > 1) {
      Files.createFile(directory.resolve(stage + "-" + ProcessHandle.current().pid()));
    }
  }

  /** Whether all instances have come so far. */
  boolean isComplete(String stage) throws IOException {
    if (instances <= 1) {
      return true;
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
              .filter(file -> String.valueOf(file.getFileName()).startsWith(stage + "-"))
              .count()
          >= instances;
    }
  }
}
