package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code BertIterator} and matrices of word vectors, from files of one sentence each. */
class SentencesIT {
  private static final int EPOCHS = 4;
  private static final int FILES = 48;

  /** Both programs read the same files. */
  private static final int HITS = (2 * EPOCHS - 1) * FILES;

  /** A part of the summary for each policy. */
  private static final Map<String, String> EXPECTED =
      Map.of(
          "cache=minio",
          "raw cache \\(process\\): " + FILES + " items, .*; " + HITS + " hits",
          "prepared=share",
          "did nothing: no sample or batch came from .* an iterator over readers of DL4J",
          "prepared=check",
          "did nothing: no data set was seen whose samples it could compare",
          "prefetch=2",
          "did nothing: the order of samples or files was not known in advance",
          "decoded=share",
          "did nothing: no decoded image came from a call that the agent intercepts",
          "prep=coordinate",
          "did nothing: the program has no pipeline that jobs can share",
          "auto",
          "auto: (cached data|nothing was switched on; the job waited)");

  /** Only files are cached, because the iterators are the library's own and read no records. */
  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void everyPolicyGivesTheSameBatches(Jdk jdk) throws IOException, InterruptedException {
    ChildResult plain = program(jdk).run().orFail("Sentences without the agent");
    for (Map.Entry<String, String> policy : EXPECTED.entrySet()) {
      ChildResult job =
          program(jdk)
              .agent(Workshop.checkout().agentJar(), "record=off," + policy.getKey())
              .run()
              .orFail(policy.getKey());
      SameOutput.check(policy.getKey(), job, plain.out());
      assertThat(job.err())
          .as(policy.getKey())
          .doesNotContain("fault")
          .containsPattern(policy.getValue());
    }
  }

  private static ChildJvm program(Jdk jdk) throws IOException {
    return Workshop.program(jdk, Framework.DL4J, "example.text.Sentences")
        .classPath(
            Workshop.checkout().root().resolve("agent/end-to-end/target/deeplearning4j-nlp.jar"))
        .args(
            "bert,vectors",
            Workshop.directory("sentences-" + jdk.version()).toString(),
            Integer.toString(EPOCHS));
  }
}
