package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** With prep=coordinate, DL4J jobs prepare each batch once, and each job uses it once. */
class CoordinatedDl4jIT {
  private static final Pattern ITEMS = Pattern.compile("items: (\\d+) from storage .*");
  private static final Pattern DECODES = Pattern.compile("decode: .* (\\d+) images decoded, .*");
  private static final int BATCH = 16;

  private final String group = UUID.randomUUID().toString();

  @AfterEach
  void assertSharedMemoryIsEmpty() throws IOException {
    assertThat(Workshop.inSharedMemory(group)).isEmpty();
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void twoJobsPrepareEachBatchOnceAndUseEachPictureOncePerEpoch(Jdk jdk) throws Exception {
    Path directory = Workshop.empty("coordinated-dl4j-" + jdk.version());
    for (String loop : Workshop.first(2, List.of("fit", "graph", "hand"))) {
      String own = loop + group;
      List<Finished> jobs =
          together(
              () -> job(jdk, directory, loop + "-one", own, loop, "1").runWell(),
              () -> job(jdk, directory, loop + "-two", own, loop, "2").runWell());
      Finished one = jobs.get(0);
      Finished two = jobs.get(1);
      for (Finished job : jobs) {
        assertThat(job.result().err()).doesNotContain("fault");
        for (int epoch = 1; epoch <= Job.EPOCHS; epoch++) {
          assertThat(pictures(job, epoch))
              .as(loop + ", epoch " + epoch)
              .doesNotHaveDuplicates()
              .hasSize(Pictures.all().files().size());
        }
      }
      assertThat(fed(two)).isEqualTo(fed(one));
      assertThat(two.batches()).isNotEqualTo(one.batches()); // Their learning rates differ.
      long all =
          (long) Job.EPOCHS * Pictures.all().files().size() + 2L * Framework.DL4J.readAhead();
      assertThat(figure(one, ITEMS) + figure(two, ITEMS)).isEqualTo(all);
      assertThat(figure(one, DECODES) + figure(two, DECODES)).isEqualTo(all);
    }
  }

  /** Each job uses only some of an epoch's batches. */
  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void jobsThatLeaveAnEpochEarlyShareTheNext(Jdk jdk) throws Exception {
    Path directory = Workshop.empty("coordinated-dl4j-limit-" + jdk.version());
    int limit = 4;
    String[] early = {"--limit", Integer.toString(limit)};
    List<Finished> jobs =
        together(
            () -> job(jdk, directory, "one", group, "hand", "1").args(early).runWell(),
            () -> job(jdk, directory, "two", group, "hand", "2").args(early).runWell());
    for (Finished job : jobs) {
      assertThat(job.result().err()).doesNotContain("fault");
      for (int epoch = 1; epoch <= Job.EPOCHS; epoch++) {
        assertThat(pictures(job, epoch)).doesNotHaveDuplicates().hasSize(limit * BATCH);
      }
    }
    assertThat(fed(jobs.get(1))).isEqualTo(fed(jobs.get(0)));
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aJobWithAnotherImageSizeKeepsItsOwnPipeline(Jdk jdk) throws Exception {
    Path directory = Workshop.empty("coordinated-dl4j-other-" + jdk.version());
    Finished plain = Job.plain(Framework.DL4J, jdk, "--size", "64");
    String policies = "prep=coordinate,prep.size=64m,group=" + group;
    List<Finished> jobs =
        together(
            () -> new Job(Framework.DL4J, jdk, directory, "usual").agent(policies).runWell(),
            () ->
                new Job(Framework.DL4J, jdk, directory, "other")
                    .args("--size", "64")
                    .agent(policies)
                    .runWell());
    assertThat(jobs.get(1).differenceFrom(plain)).isEmpty();
    assertThat(jobs.get(1).result().err()).doesNotContain("fault");
  }

  /** A lone job has its own order, as without the agent. */
  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aLoneJobGetsItsBatchesAsWithoutTheAgent(Jdk jdk) throws IOException, InterruptedException {
    Path directory = Workshop.empty("coordinated-dl4j-alone-" + jdk.version());
    Finished plain = Job.plain(Framework.DL4J, jdk);
    Finished alone =
        new Job(Framework.DL4J, jdk, directory, "alone")
            .agent("prep=coordinate,prep.size=64m,group=" + group)
            .runWell();
    assertThat(alone.differenceFrom(plain)).isEmpty();
    assertThat(alone.result().err()).doesNotContain("fault");
    assertThat(figure(alone, ITEMS))
        .isEqualTo((long) Job.EPOCHS * Pictures.all().files().size() + 1);
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void everyUseOfAnIteratorWorksAsWithoutTheAgent(Jdk jdk) throws Exception {
    ChildResult plain = useIterators(jdk).run().orFail("The plain run");
    ChildResult alone = useIterators(jdk).agent(agentJar(), policies(1)).run().orFail("The run");
    assertThat(plain.out().lines()).hasSizeGreaterThan(1000);
    SameOutput.check(alone, plain);
    assertThat(alone.err())
        .doesNotContain("fault")
        .containsOnlyOnce("prep=coordinate leaves iterators that collect metadata to DL4J.")
        .containsOnlyOnce("prep=coordinate leaves readers of class example.images.UseIterators$");
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void batchesOfSeveralArraysAreShared(Jdk jdk) throws Exception {
    String use = "several arrays";
    ChildResult plain = useIterators(jdk).args(use).run().orFail("The plain run");
    List<ChildResult> jobs =
        together(
            () -> useIterators(jdk).args(use).agent(agentJar(), policies(2)).run(),
            () -> useIterators(jdk).args(use).agent(agentJar(), policies(2)).run());
    for (ChildResult job : jobs) {
      SameOutput.check(job.orFail("The job"), plain);
      assertThat(job.err()).doesNotContain("fault");
    }
  }

  /** The buffer has room for four of an epoch's six batches, so no job is a whole epoch ahead. */
  private static Job job(
      Jdk jdk, Path directory, String name, String group, String loop, String number)
      throws IOException {
    return new Job(Framework.DL4J, jdk, directory, name)
        .args("--seed", number, "--lr", "0.00" + number, "--loop", loop)
        .agent("prep=coordinate,prep.jobs=2,prep.size=2m,group=" + group);
  }

  private static ChildJvm useIterators(Jdk jdk) throws IOException {
    return Workshop.program(jdk, Framework.DL4J, "example.images.UseIterators")
        .jvmArgs("-Xmx512m")
        .args(Pictures.all().directory().toString());
  }

  private String policies(int jobs) {
    return "record=off,prep=coordinate,prep.size=1m,prep.jobs=" + jobs + ",group=" + group;
  }

  private static Path agentJar() {
    return Workshop.checkout().agentJar();
  }

  /** Runs both at the same time. */
  private static <T> List<T> together(Callable<T> one, Callable<T> two)
      throws InterruptedException, ExecutionException {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> job : threads.invokeAll(List.of(one, two))) {
        results.add(job.get());
      }
      return results;
    } finally {
      threads.shutdown();
    }
  }

  /** Returns the pictures of an epoch, as checksums of their data. */
  private static List<String> pictures(Finished job, int epoch) throws IOException {
    return Files.readAllLines(job.log()).stream()
        .filter(line -> line.startsWith("items " + epoch + " "))
        .flatMap(line -> Arrays.stream(line.split(" ", -1)).skip(3))
        .toList();
  }

  /** Returns the batch of each step: epoch, number, checksums of data and labels. */
  private static List<String> fed(Finished job) throws IOException {
    return job.batches().stream().map(line -> line.substring(0, line.lastIndexOf(' '))).toList();
  }

  private static long figure(Finished job, Pattern pattern) {
    for (String line : job.agentLines()) {
      Matcher matcher = pattern.matcher(line);
      if (matcher.matches()) {
        return Long.parseLong(matcher.group(1));
      }
    }
    throw new AssertionError("No agent line matches " + pattern + ":\n" + job.result().err());
  }
}
