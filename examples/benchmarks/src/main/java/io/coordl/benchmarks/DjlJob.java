package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The unmodified DJL example as a child process, with its data set and logs. */
final class DjlJob {
  private final Checkout checkout;
  private final Path work;

  /** Creates jobs whose files are below {@code work}. */
  DjlJob(Checkout checkout, Path work) throws IOException {
    this.checkout = checkout;
    this.work = Files.createDirectories(work);
  }

  Path images() {
    return work.resolve("images");
  }

  Path log(String name) {
    return work.resolve(name + ".log");
  }

  /** Writes the missing files of the data set. */
  void makeImages(int classes, int perClass) throws IOException, InterruptedException {
    Pictures.make(checkout, images(), Integer.toString(classes), Integer.toString(perClass));
  }

  /** Returns a reproducible job: seeded, one thread, batches loaded on the training thread. */
  ChildJvm job(Jdk jdk, String name, int epochs) throws IOException {
    return Example.DJL
        .program(checkout, jdk)
        .args(
            "--data", images().toString(),
            "--log", log(name).toString(),
            "--checkpoint", work.resolve("checkpoints-" + name).toString(),
            "--epochs", Integer.toString(epochs),
            "--seed", "1");
  }
}
