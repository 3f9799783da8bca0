package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.benchmarks.ChildJvm;
import io.coordl.benchmarks.ChildResult;
import io.coordl.benchmarks.Jdk;
import io.coordl.endtoend.Job.Finished;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** With prepared=share samples are prepared once, and every batch keeps its bits. */
class PreparedIT {
  private static final int SAMPLES = 96;
  private static final Pattern STORE =
      Pattern.compile("prepared cache \\(\\w+\\): (\\d+) items, .*; (\\d+) hits, (\\d+) misses");

  private static final String PURE = "csv,text,audio,images,flipped,threads,split";
  private static final String HOSTILE =
      "rewritten,failing,own-pipeline,strings,own-random,counter,remembers,draws,gaussian";
  private static final String LOOPS =
      "plain,break,own-transform,own-random,counter,lambda,draws,own-data,exception,restart,"
          + "together,interrupt,validation,close,changes";

  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void everyBatchIsTheSame(Jdk jdk) throws IOException, InterruptedException {
    String all = PURE + "," + HOSTILE;
    ChildResult plain = samples(jdk, all).run().orFail("Samples without the agent");
    assertThat(plain.out().lines()).hasSizeGreaterThan(4 * 14 * SAMPLES / 32);
    for (String policy :
        Workshop.first(1, List.of("prepared=share,prefetch=2", "prepared=share"))) {
      ChildResult kept = agent(samples(jdk, all), policy).run().orFail(policy);
      assertThat(kept.out()).as(policy).isEqualTo(plain.out());
      assertThat(kept.err())
          .doesNotContain("fault")
          .contains(
              "DjlSamples$Counted.get sets its field calls",
              "DjlSamples$Remembering.get may change a collection it keeps");
      assertThat(figure(kept, 2)).as(policy).isGreaterThan(3L * 7 * SAMPLES / 2);
    }
  }

  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void loopsOfEveryKindGetTheSameBatches(Jdk jdk) throws IOException, InterruptedException {
    ChildResult plain = loops(jdk).run().orFail("Loops without the agent");
    ChildResult kept = agent(loops(jdk), "prepared=share").run().orFail("prepared=share");
    assertThat(kept.out()).isEqualTo(plain.out());
    assertThat(kept.err()).doesNotContain("fault");
    assertThat(figure(kept, 2)).isPositive();
  }

  /** How an array lies in memory decides the last bit of what is computed of it. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void everyLossIsTheSame(Jdk jdk) throws IOException, InterruptedException {
    String[] still = {"--augment", "false"};
    Finished plain = Job.plain(Framework.DJL, jdk, still);
    Finished kept =
        new Job(Framework.DJL, jdk, Workshop.empty("prepared-losses-" + jdk.version()), "kept")
            .args(still)
            .agent("prepared=share")
            .runWell();
    assertThat(kept.differenceFrom(plain)).isEmpty();
    int files = Pictures.all().files().size();
    assertThat(figure(kept.result(), 2)).isEqualTo((Job.EPOCHS - 1L) * files);
  }

  /** They ask for the same samples, in the same order, at the same time. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void twoJobsPrepareEachSampleOnceBetweenThem(Jdk jdk) throws Exception {
    ChildResult plain = samples(jdk, "audio").run().orFail("Samples without the agent");
    String policy = "prepared=share,cache.scope=host,prepared.size=16m,group=" + UUID.randomUUID();
    ChildJvm first = agent(samples(jdk, "audio"), policy);
    CompletableFuture<ChildResult> one =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return first.run();
              } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    ChildResult two = agent(samples(jdk, "audio"), policy).run().orFail("the second job");
    long made = 0;
    for (ChildResult job : List.of(one.get().orFail("the first job"), two)) {
      assertThat(job.out()).isEqualTo(plain.out());
      assertThat(job.err()).doesNotContain("fault");
      assertThat(figure(job, 2)).isPositive();
      made += figure(job, 3);
    }
    // And once what they agree on; before they do, both may make the first one.
    assertThat(made).isBetween(SAMPLES + 1L, SAMPLES + 3L);
  }

  private static ChildJvm samples(Jdk jdk, String programs) throws IOException {
    Path folder = Workshop.checkout().work("samples");
    Path pictures = folder.resolve("pictures");
    if (!Files.exists(pictures)) {
      Files.createDirectories(folder);
      Files.createSymbolicLink(
          pictures, Pictures.all().copyTo(Workshop.empty("few-pictures"), 24).directory());
    }
    return Workshop.program(jdk, Framework.DJL, "example.prepared.DjlSamples")
        .args(programs, folder.toString(), Integer.toString(SAMPLES));
  }

  private static ChildJvm loops(Jdk jdk) throws IOException {
    return Workshop.program(jdk, Framework.DJL, "example.prefetch.DjlLoops")
        .args(LOOPS, Pictures.all().directory().toString());
  }

  private static ChildJvm agent(ChildJvm child, String policy) {
    return child.agent(Workshop.checkout().agentJar(), "record=off," + policy);
  }

  private static long figure(ChildResult job, int group) {
    Matcher matcher = STORE.matcher(job.err());
    assertThat(matcher.find()).as(job.err()).isTrue();
    return Long.parseLong(matcher.group(group));
  }
}
