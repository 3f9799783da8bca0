package io.coordl.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The unmodified DJL example, and other programs with DJL, as a child process. */
final class DjlJob {
  private final Checkout checkout;
  private final Path work;

  /** Jobs that keep their files below {@code work}. */
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

  /** Writes the data set, or what is missing of it. */
  void makeImages(int classes, int perClass) throws IOException, InterruptedException {
    new ChildJvm(Jdks.running(), "example.dataset.ImageDataset")
        .classPath(checkout.exampleJar("dataset"))
        .args(images().toString(), Integer.toString(classes), Integer.toString(perClass))
        .jvmArgs("-Djava.awt.headless=true")
        .echo(line -> System.out.println("  " + line))
        .run()
        .orFail("The data-set generator");
  }

  /** A job that is the same every time: seeded, one thread, batches loaded where they are used. */
  ChildJvm job(Jdk jdk, String name, int epochs) throws IOException {
    return program(jdk, "example.djl.TrainImages")
        .args(
            "--data", images().toString(),
            "--log", log(name).toString(),
            "--checkpoint", work.resolve("checkpoints-" + name).toString(),
            "--epochs", Integer.toString(epochs),
            "--seed", "1");
  }

  /** A program with DJL on its class path. */
  ChildJvm program(Jdk jdk, String mainClass) throws IOException {
    ChildJvm program =
        new ChildJvm(jdk, mainClass)
            .classPath(checkout.exampleJar("djl-image"))
            .classPathFile(checkout.exampleClassPath("djl-image"))
            .jvmArgs(
                "-Xmx1g",
                // Natives come from the class path; nothing is fetched, nothing is reported home.
                "-Dai.djl.offline=true",
                // 442 MB of unpacked natives, shared by all runs.
                "-DDJL_CACHE_DIR=" + checkout.work("djl-cache"),
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-Dorg.slf4j.simpleLogger.log.ai.djl.util.cuda.CudaUtils=off")
            // Libtorch's threads fight on a busy machine; one gives the same sums every time.
            .environment("OMP_NUM_THREADS", "1");
    return jdk.feature() >= 24 ? program.jvmArgs("--enable-native-access=ALL-UNNAMED") : program;
  }
}
