package io.coordl.benchmarks;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;

/** The unmodified training examples as child processes. */
enum Example {
  /**
   * DJL loads batches on the training thread and decodes in two calls: one reads the file, one
   * makes the array.
   */
  DJL(2, 85),

  /** DL4J loads batches on its own thread. */
  DL4J(1, 350);

  private final int decodesPerPicture;
  private final int picturesPerSecond;

  Example(int decodesPerPicture, int picturesPerSecond) {
    this.decodesPerPicture = decodesPerPicture;
    this.picturesPerSecond = picturesPerSecond;
  }

  /** Returns the number of calls per picture that the agent counts as decoding. */
  int decodesPerPicture() {
    return decodesPerPicture;
  }

  /** Returns the approximate rate on two processors, to choose the number of epochs. */
  int picturesPerSecond() {
    return picturesPerSecond;
  }

  /** Returns the reproducible example: one native thread, nothing downloaded or reported. */
  ChildJvm program(Checkout checkout, Jdk jdk) throws IOException {
    return program(checkout, jdk, "example." + name().toLowerCase(Locale.ROOT) + ".TrainImages");
  }

  /** Returns another program, with the library on its class path after {@code inFront}. */
  ChildJvm program(Checkout checkout, Jdk jdk, String mainClass, Path... inFront)
      throws IOException {
    String module = name().toLowerCase(Locale.ROOT) + "-image";
    ChildJvm program =
        new ChildJvm(jdk, mainClass)
            .classPath(inFront)
            .classPath(checkout.exampleJar(module))
            .classPathFile(checkout.exampleClassPath(module))
            .jvmArgs(
                "-Xmx1g",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-Dorg.slf4j.simpleLogger.log.ai.djl.util.cuda.CudaUtils=off",
                // Only DJL reads these: take natives from the class path, download and report
                // nothing, and share 442 MB of unpacked natives between runs.
                "-Dai.djl.offline=true",
                "-DDJL_CACHE_DIR=" + checkout.work("djl-cache"))
            // With one thread, libtorch gives the same sums every time, even on a busy machine.
            .environment("OMP_NUM_THREADS", "1");
    return jdk.feature() >= 24 ? program.jvmArgs("--enable-native-access=ALL-UNNAMED") : program;
  }
}
