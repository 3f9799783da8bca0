package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import io.coordl.harness.Jdks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A program whose arrays stay reachable reads correct values, even if the garbage collector
 * constantly frees native memory and freed memory is overwritten ({@code MALLOC_PERTURB_}).
 */
class NativeMemoryIT {
  private static final int READS = Workshop.FULL ? 1_000_000 : 5_000;
  private static final int LOADS = Workshop.FULL ? 50_000 : 200;
  private static final String SUFFIX = " gradients are wrong";
  private static final int GRADIENTS = Workshop.FULL ? 200 : 10;
  private static final int EPOCHS = Workshop.FULL ? 20_000 : 50;

  /** A small young generation, to collect garbage often. */
  private static final String[] SMALL = {"-Xmn3m", "-Xmx512m"};

  /**
   * The program retains its arrays or their loader; {@code example.bits.FreedMemory} also shows
   * what happens otherwise.
   */
  @ParameterizedTest
  @ValueSource(strings = {"array-held", "image-held"})
  void aProgramThatHoldsItsArraysReadsNoFreedMemory(String way) throws Exception {
    Jdk jdk = Workshop.inTurns(way, Jdks.all()).get(0);
    String reads = Integer.toString(way.startsWith("array") ? READS : LOADS);
    ChildResult read =
        Workshop.program(jdk, Framework.DL4J, "example.bits.FreedMemory")
            .jvmArgs(SMALL)
            .environment("MALLOC_PERTURB_", "165")
            .args(way, reads)
            .agent(Workshop.checkout().agentJar(), "record=off,prepared=share,prefetch=2")
            .run()
            .orFail(way);
    assertThat(read.out()).contains(way + ": " + reads + " reads, 0 wrong");
  }

  /** {@code backward} reads the memory of numbers that the library has closed. */
  @ParameterizedTest
  @ValueSource(strings = {"prefetch=2", "prepared=share", "auto"})
  void closedNumbersKeepTheirMemoryUntilBackward(String policy) throws Exception {
    Jdk jdk = Workshop.inTurns(policy, Jdks.all()).get(0);
    ChildResult plain = gradients(jdk).run().orFail("The plain run");
    ChildResult job =
        gradients(jdk)
            .agent(Workshop.checkout().agentJar(), "record=off," + policy)
            .run()
            .orFail("The job");
    assertThat(plain.out().lines()).contains(GRADIENTS + " of " + GRADIENTS + SUFFIX);
    assertThat(job.out().lines()).contains("0 of " + GRADIENTS + SUFFIX);
  }

  private static ChildJvm gradients(Jdk jdk) throws IOException {
    return Workshop.program(jdk, Framework.DJL, "example.bits.ClosedNumber")
        .environment("MALLOC_PERTURB_", "165")
        .args(Integer.toString(GRADIENTS));
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void batchesStayCorrectWhileMemoryIsFreed(Jdk jdk) throws Exception {
    Path data = Workshop.empty("native-memory-" + jdk.version());
    readers(jdk, data, "write").run().orFail("The data");
    String[] use = {"csv files", "epochs=" + EPOCHS};
    ChildResult plain = readers(jdk, data, "csv files", "epochs=1").run().orFail("The plain run");
    ChildResult job =
        readers(jdk, data, use)
            .jvmArgs(SMALL)
            .environment("MALLOC_PERTURB_", "165")
            .agent(
                Workshop.checkout().agentJar(),
                "record=off,prep=coordinate,prep.size=64k,prep.jobs=1,group=" + UUID.randomUUID())
            .run()
            .orFail("The job");
    StringBuilder all = new StringBuilder();
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      all.append(plain.out().replace("csv files 1:", "csv files " + epoch + ":"));
    }
    SameOutput.check("The job", job, all.toString());
    assertThat(job.err()).containsPattern("[1-9][0-9,]* batches from the group");
  }

  private static ChildJvm readers(Jdk jdk, Path data, String... uses) throws IOException {
    return Workshop.program(jdk, Framework.DL4J, "example.records.UseReaders")
        .args(data.toString())
        .args(uses);
  }

  /** The report of a difference includes the bytes of both arrays and their owners. */
  @Test
  void aDifferenceIsReported() throws Exception {
    Jdk jdk = Workshop.newestJdk();
    Path data = Workshop.empty("native-memory-difference");
    readers(jdk, data, "write").run().orFail("The data");
    ChildResult one = readers(jdk, data, "csv", "epochs=1").run().orFail("A run");
    ChildResult other = readers(jdk, data, "csv", "epochs=1", "label=1").run().orFail("A run");
    assertThat(SameOutput.difference(one.out(), other.out()))
        .contains("15 of 15 lines differ.", "Line 1 is", "bytes, ", " of which differ from those")
        .containsPattern("84 bytes of FloatBuffer over a \\S+ at [0-9a-f]+, offset 0");
  }
}
