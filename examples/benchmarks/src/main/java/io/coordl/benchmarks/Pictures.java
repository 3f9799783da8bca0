package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Path;

/** Creates data sets of JPEG files. */
final class Pictures {
  private Pictures() {}

  /** Writes the missing files of a data set; {@code arguments} go to the generator. */
  static void make(Checkout checkout, Path directory, String... arguments)
      throws IOException, InterruptedException {
    new ChildJvm(Jdks.running(), "example.dataset.ImageDataset")
        .classPath(checkout.exampleJar("dataset"))
        .args(directory.toString())
        .args(arguments)
        .jvmArgs("-Djava.awt.headless=true")
        .echo(line -> System.out.println("  " + line))
        .run()
        .orFail("The data-set generator");
  }
}
