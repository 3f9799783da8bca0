package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.Checkout;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Loops that the user declares, on libraries that the agent does not know. */
class OtherLibrariesIT {
  private static final List<String> MODES =
      List.of("", "cache=minio", "prepared=share", "prefetch=2", "auto");
  private static final int EPOCHS = 4;

  private static ChildJvm program(Jdk jdk, String main, Path directory, String kind)
      throws IOException {
    Checkout checkout = Workshop.checkout();
    return new ChildJvm(jdk, main)
        .classPath(checkout.libraryPrograms())
        .classPathFile(checkout.libraryClassPath())
        .args(directory.toString(), String.valueOf(EPOCHS), kind);
  }

  /**
   * The losses are the same in all modes.
   *
   * @param left why batches are left to the program; empty if they are not
   */
  @ParameterizedTest(name = "{0} with {2}")
  @CsvSource(
      textBlock =
          """
          example.pytorch.TorchLoop,   example.pytorch.ArrayBatches,     arrays,  ''
          example.pytorch.TorchLoop,   example.pytorch.TensorBatches,    tensors, org.bytedeco.pytorch.Tensor
          example.tensorflow.FlowLoop, example.tensorflow.ArrayBatches,  arrays,  ''
          example.tensorflow.FlowLoop, example.tensorflow.TensorBatches, tensors, org.tensorflow.ndarray.Shape.size sets its field size
          """)
  void everyModeGivesTheSameLosses(String main, String loader, String kind, String left)
      throws IOException, InterruptedException {
    Assumptions.assumeTrue(
        Workshop.FULL, "runs only with -Pfull: PyTorch and TensorFlow are 270 MB of downloads");
    for (Jdk jdk : Workshop.jdksInOrder()) {
      Path directory = Workshop.empty("library-" + main + jdk.version() + kind);
      ChildResult plain = program(jdk, main, directory, kind).run();
      if (plain.exit() != 0) {
        // JavaCPP 1.5.11 loads libtorch.so before it has extracted libtorch_cpu.so: each user's
        // first run aborts, with or without an agent.
        plain = program(jdk, main, directory, kind).run();
      }
      plain.orFail(main);
      assertThat(plain.out().lines().filter(line -> line.contains("loss"))).hasSize(EPOCHS);
      for (String mode : MODES) {
        Path recording = directory.resolve("job.jfr");
        String arguments =
            "batch=" + loader + "#next,step=" + main + "#step,record=" + recording + "," + mode;
        ChildResult job =
            program(jdk, main, directory, kind)
                .agent(Workshop.checkout().agentJar(), arguments)
                .run()
                .orFail(main + " " + mode);
        SameOutput.check(main + " " + mode, job, plain.out());
        Summary summary = Summary.of(recording);
        assertThat(summary.epochs("updates")).containsExactly(5L, 5L, 5L, 5L);
        if (mode.equals("cache=minio")) {
          assertThat(summary.epochs("storageItems")).containsExactly(40L, 0L, 0L, 0L);
        }
        if (mode.startsWith("pre")) {
          assertThat(job.err().lines().filter(line -> line.matches(".*(share|prefetch) leaves .*")))
              .hasSize(left.isEmpty() ? 0 : 1)
              .allMatch(line -> line.contains(left));
        }
      }
    }
  }
}
