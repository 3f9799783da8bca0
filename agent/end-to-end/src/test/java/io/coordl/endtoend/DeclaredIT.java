package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A training loop without a library, whose methods the user declares. */
class DeclaredIT {
  private static final String LOOP =
      "batch=example.declared.Rows#next,step=example.declared.OwnLoop#step";
  private static final int EPOCHS = 3;
  private static final int ROWS = 40;

  private static ChildJvm loop(Jdk jdk, Path directory) {
    return new ChildJvm(jdk, "example.declared.OwnLoop")
        .classPath(Workshop.checkout().testPrograms())
        .jvmArgs("-XX:TieredStopAtLevel=1")
        .args(directory.toString(), String.valueOf(EPOCHS));
  }

  private static ChildResult run(Jdk jdk, Path directory, String arguments)
      throws IOException, InterruptedException {
    return loop(jdk, directory)
        .agent(Workshop.checkout().agentJar(), arguments)
        .run()
        .orFail("loop");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void epochsBatchesAndItemsAreCountedAndTheSecondEpochReadsNoFile(Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("declared-" + jdk.version());
    List<String> plain = loop(jdk, directory).run().orFail("plain loop").out().lines().toList();
    Path recording = directory.resolve("job.jfr");

    ChildResult job = run(jdk, directory, LOOP + ",cache=minio,record=" + recording);

    assertThat(job.out().lines().toList()).hasSize(EPOCHS).isEqualTo(plain);
    Summary summary = Summary.of(recording);
    assertThat(summary.epochs("samples")).containsExactly(40L, 40L, 40L);
    assertThat(summary.epochs("updates")).containsExactly(5L, 5L, 5L);
    assertThat(summary.epochs("storageItems")).containsExactly((long) ROWS, 0L, 0L);
    assertThat(summary.epochs("memoryItems")).containsExactly(0L, (long) ROWS, (long) ROWS);
    assertThat(Summary.text(recording)).anyMatch(line -> line.contains("OwnLoop"));
    assertThat(job.err()).contains("3 epochs").doesNotContain("prepared=share", "prefetch=");
  }

  @Test
  void unknownNamesAreReportedAndTheProgramRuns() throws IOException, InterruptedException {
    Path directory = Workshop.empty("declared-wrong");
    String wrong =
        "record=off,batch=example.declared.Rows#nxt,step=example.declared.OwnLoop#step(I)V"
            + ",item=my.Other#load";
    ChildResult job = run(Workshop.newestJdk(), directory, wrong);
    assertThat(job.out().lines()).hasSize(EPOCHS);
    for (String method :
        List.of(
            "batch=example.declared.Rows#nxt",
            "step=example.declared.OwnLoop#step(I)V",
            "item=my.Other#load")) {
      assertThat(job.err()).contains(method + " did nothing: the program loaded no class ");
    }
    assertThat(run(Workshop.newestJdk(), directory, "batch=next,record=off").err())
        .contains("batch=next is not valid: expected CLASS#METHOD");
    assertThat(run(Workshop.newestJdk(), directory, "step=a.B#c,record=off").err())
        .contains("step=a.B#c observes nothing without batch=CLASS#METHOD");
  }
}
