package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Path;

/**
 * One of the ordinary programs {@code example.training.DjlTraining} and {@code Dl4jTraining}.
 *
 * @param kind kind of its data; empty if it generates them
 */
record TrainingProgram(Example library, String name, String kind) {
  /**
   * Creates the program's data in a directory below {@code work} and returns the argument that
   * names it: a path, or the number of samples if the program makes its own data.
   */
  String data(Checkout checkout, Path work, int samples) throws IOException, InterruptedException {
    if (kind.isEmpty()) {
      return Integer.toString(samples);
    }
    Path folder = work.resolve(kind + "-" + samples);
    if (kind.equals("pictures")) {
      Pictures.make(checkout, folder, "2", Integer.toString(samples / 2));
    } else {
      new ChildJvm(Jdks.running(), "example.training.TrainingData")
          .classPath(checkout.testPrograms())
          .args(kind, folder.toString(), Integer.toString(samples))
          .run()
          .orFail("The writer of training data");
    }
    return folder.toString();
  }

  /** Returns a job of {@code epochs} epochs, without the agent. */
  ChildJvm job(Checkout checkout, String data, int epochs) throws IOException {
    String mainClass = "example.training." + (library == Example.DJL ? "Djl" : "Dl4j") + "Training";
    return library
        .program(checkout, Jdks.running(), mainClass)
        .classPath(checkout.testPrograms())
        .args(name, data, Integer.toString(epochs));
  }

  @Override
  public String toString() {
    return library + " " + name;
  }
}
