package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Training loops that use no library; the user declares their methods. */
class DeclaredIT {
  private static final String LOOP =
      "batch=example.declared.Rows#next,step=example.declared.OwnLoop#step";
  private static final String MANY = "example.declared.ManyLoops";
  private static final int EPOCHS = 3;
  private static final int ROWS = 40;

  private static final List<String> MODES =
      List.of("cache=minio", "prepared=share", "prefetch=2", "prepared=share,prefetch=2", "auto");

  private static ChildJvm loop(Jdk jdk, Path directory) {
    return program(jdk, "example.declared.OwnLoop", directory, String.valueOf(EPOCHS));
  }

  private static ChildJvm program(Jdk jdk, String main, Path directory, String argument) {
    return new ChildJvm(jdk, main)
        .classPath(Workshop.checkout().testPrograms())
        .jvmArgs("-XX:TieredStopAtLevel=1")
        .args(directory.toString(), argument);
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
    assertThat(job.err()).contains("3 epochs").doesNotContain("prefetch=");
  }

  static Stream<Arguments> modes() {
    return (Workshop.FULL ? Workshop.jdksInOrder() : List.of(Workshop.newestJdk()))
        .stream().flatMap(jdk -> MODES.stream().map(mode -> Arguments.of(jdk, mode)));
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("modes")
  void everyModeGivesTheSameResultsAndCounts(Jdk jdk, String mode)
      throws IOException, InterruptedException, ExecutionException {
    Path directory = Workshop.empty("declared-" + jdk.version() + mode.replaceAll("\\W", "-"));
    Path data = Workshop.shared("declared-rows-" + jdk.version());
    String plain = loop(jdk, data).runOnce().out(); // Also writes the other runs' files.
    Path recording = directory.resolve("job.jfr");

    ChildResult job = run(jdk, data, LOOP + "," + mode + ",record=" + recording);

    SameOutput.check(mode, job, plain);
    Summary summary = Summary.of(recording);
    assertThat(summary.epochs("samples")).containsExactly(40L, 40L, 40L);
    assertThat(summary.epochs("updates")).containsExactly(5L, 5L, 5L);
    assertThat(job.err()).doesNotContain("leaves");
    if (mode.startsWith("prepared")) {
      assertThat(summary.store("hits")).isEqualTo(10);
    }
    if (mode.contains("prefetch")) {
      assertThat(job.err()).containsPattern("batches prefetched, [1-9]\\d* of them used");
    }
  }

  /**
   * {@code left} is part of the line in which the agent says why it does not share or prefetch the
   * program's batches; empty if it does.
   */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      textBlock =
          """
          shuffled,   example.declared.ManyLoops$Shuffled#next,                 ''
          reused,     example.declared.ManyLoops$Reused#next,                   batch, an array
          records,    example.declared.ManyLoops$Records#next,                  ''
          overloaded, example.declared.ManyLoops$Overloaded#next(I)[[F,         ''
          loaded,     example.declared.ManyLoops$Loaded#next,                   submit
          rewritten,  example.declared.Rows#next,                               ''
          damaged,    example.declared.ManyLoops$Damaged#next,                  ''
          several,    example.declared.Rows#next,                               ''
          stuck,      example.declared.Rows#next,                               ''
          """)
  void loopsOfEveryKindGetTheSameBatches(String kind, String batch, String left)
      throws IOException, InterruptedException {
    Jdk jdk = Workshop.newestJdk();
    Path directory = Workshop.empty("declared-" + kind);
    String loop = "record=off,batch=" + batch + ",step=" + MANY + "#step";
    String plain = program(jdk, MANY, directory, kind).run().orFail(kind).out();
    for (String mode : Workshop.FULL ? MODES : List.of("cache=minio,prepared=share,prefetch=2")) {
      ChildResult job =
          program(jdk, MANY, directory, kind)
              .agent(Workshop.checkout().agentJar(), loop + "," + mode)
              .run()
              .orFail(kind + " " + mode);
      SameOutput.check(kind + " " + mode, job, plain);
      if (mode.contains("prepared")) {
        assertThat(job.err().lines().filter(line -> line.matches(".*(share|prefetch) leaves .*")))
            .hasSize(left.isEmpty() ? 0 : 1)
            .allMatch(line -> line.contains(left));
      }
    }
  }

  @Test
  void readsOfADeclaredItemAreItemsOnAnyThread() throws IOException, InterruptedException {
    Jdk jdk = Workshop.newestJdk();
    Path directory = Workshop.empty("declared-items");
    Path recording = directory.resolve("job.jfr");
    String loop =
        "batch=example.declared.ManyLoops$Loaded#next,step=" + MANY + "#step,cache=minio,record=";
    for (String item :
        List.of("", ",item=" + MANY + "$Loaded#load(Ljava/nio/file/Path;)[F,item=my.Other#load")) {
      ChildResult job =
          program(jdk, MANY, directory, "loaded")
              .agent(Workshop.checkout().agentJar(), loop + recording + item)
              .run()
              .orFail("loaded");
      // The class of the batch method inherits hasNext, so the job has only one epoch.
      assertThat(Summary.of(recording).epochs("memoryItems"))
          .containsExactly(item.isEmpty() ? 0L : 72L);
      assertThat(job.err().contains("item=my.Other#load did nothing")).isEqualTo(!item.isEmpty());
    }
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
        .contains("batch=next is not valid: expected none, CLASS#METHOD");
    assertThat(run(Workshop.newestJdk(), directory, "step=a.B#c,record=off").err())
        .contains("step=a.B#c observes nothing without batch=CLASS#METHOD");
  }
}
