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
   * DJL loads a batch on the training thread; decoding is two calls, one that reads the file and
   * one that makes the array.
   */
  DJL(2, 85),

  /** DL4J loads batches on a thread of its own. */
  DL4J(1, 350);

  private final int decodesPerPicture;
  private final int picturesPerSecond;

  Example(int decodesPerPicture, int picturesPerSecond) {
    this.decodesPerPicture = decodesPerPicture;
    this.picturesPerSecond = picturesPerSecond;
  }

  /** Calls that the agent counts as decoding, for one picture. */
  int decodesPerPicture() {
    return decodesPerPicture;
  }

  /** Roughly, on two processors: for how many epochs a run of some length has. */
  int picturesPerSecond() {
    return picturesPerSecond;
  }

  /** A program that is the same every time: one native thread, nothing fetched or reported home. */
  ChildJvm program(Checkout checkout, Jdk jdk) throws IOException {
    return program(checkout, jdk, "example." + name().toLowerCase(Locale.ROOT) + ".TrainImages");
  }

  /** Another program with the library on its class path, behind other jars if there are any. */
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
                // DJL alone looks at these: natives come from the class path, nothing is fetched,
                // nothing is reported home, and all runs share 442 MB of unpacked natives.
                "-Dai.djl.offline=true",
                "-DDJL_CACHE_DIR=" + checkout.work("djl-cache"),
                "-Dorg.slf4j.simpleLogger.log.ai.djl.util.cuda.CudaUtils=off")
            // Libtorch's threads fight on a busy machine; one gives the same sums every time.
            .environment("OMP_NUM_THREADS", "1");
    return jdk.feature() >= 24 ? program.jvmArgs("--enable-native-access=ALL-UNNAMED") : program;
  }
}
