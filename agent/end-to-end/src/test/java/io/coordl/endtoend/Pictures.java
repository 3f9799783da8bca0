package io.coordl.endtoend;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Data sets of JPEG files in class folders. Immutable; any thread. */
record Pictures(Path directory) {
  private static final int CLASSES = 4;
  private static final int PER_CLASS = 24;

  /** Large enough that a quarter of the files exceeds the smallest allowed budget (1 MiB). */
  private static final String PIXELS = "480x400";

  /** Returns the data set that no test changes: 96 files. */
  static Pictures all() {
    return Shared.ALL;
  }

  private static final class Shared {
    static final Pictures ALL = make();

    private static Pictures make() {
      Path directory = Workshop.directory("pictures");
      try {
        new ChildJvm(Jdks.running(), "example.dataset.ImageDataset")
            .classPath(Workshop.checkout().exampleJar("dataset"))
            .args(
                directory.toString(),
                Integer.toString(CLASSES),
                Integer.toString(PER_CLASS),
                PIXELS)
            .jvmArgs("-Djava.awt.headless=true")
            .run()
            .orFail("The data-set generator");
        return new Pictures(directory);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** Returns the files, in the order of their paths. */
  List<Path> files() throws IOException {
    try (Stream<Path> tree = Files.walk(directory)) {
      return tree.filter(path -> path.toString().endsWith(".jpg")).sorted().toList();
    }
  }

  /** Bytes of all files. */
  long bytes() throws IOException {
    long bytes = 0;
    for (Path file : files()) {
      bytes += Files.size(file);
    }
    return bytes;
  }

  /** Copies {@code perClass} pictures of each class to {@code target}. */
  Pictures copyTo(Path target, int perClass) throws IOException {
    for (Path file : files()) {
      Path folder = target.resolve(directory.relativize(file).getParent());
      Files.createDirectories(folder);
      if (Integer.parseInt(file.getFileName().toString().replace(".jpg", "")) < perClass) {
        Files.copy(file, folder.resolve(file.getFileName()));
      }
    }
    return new Pictures(target);
  }
}
