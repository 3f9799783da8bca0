package io.coordl.profile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * A barrier for several instances of a program: a directory in which each creates a file when it
 * reaches a stage. Nothing blocks here: a waiting instance keeps working and checks again.
 */
final class Meeting {
  private final Path directory;
  private final int instances;

  Meeting(Accelerator accelerator) {
    this.directory = accelerator.meeting();
    this.instances = accelerator.instances();
  }

  /** Records that this instance has reached the stage. */
  void arrive(String stage) throws IOException {
    if (instances > 1) {
      Files.createFile(directory.resolve(stage + "-" + ProcessHandle.current().pid()));
    }
  }

  /** Whether all instances have reached the stage. */
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
