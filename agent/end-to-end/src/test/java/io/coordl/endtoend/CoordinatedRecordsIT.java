package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** With prep=coordinate, DL4J jobs over text files or in-memory records also share batches. */
class CoordinatedRecordsIT {
  private static final int EPOCHS = 3;
  private static final int RECORDS = 100;
  private static final int BATCHES = (RECORDS + 6) / 7;
  private static final int SEQUENCES = 30;
  private static final int SIGKILL_STATUS = 128 + 9;
  private static final int AT_ONCE = 3;

  /** The program's uses of readers that keep the same order in every epoch. */
  private static final List<String> UNSHUFFLED =
      List.of(
          "csv",
          "csv files",
          "csv prefetched",
          "csv collected",
          "csv arrays",
          "lines",
          "regex",
          "svmlight",
          "files",
          "sequences",
          "aligned",
          "transformed",
          "memory",
          "memory of text",
          "memory of sequences",
          "several readers",
          "keeping");

  private static final Pattern PREPARED =
      Pattern.compile("coordinated prep .* (\\d+) prepared for the group");
  private static final Pattern ALONE =
      Pattern.compile("coordinated prep .* (\\d+) prepared locally");
  private static final Pattern OPENED = Pattern.compile("items: (\\d+) from storage");

  private final String group = UUID.randomUUID().toString();

  @AfterEach
  void assertSharedMemoryIsEmpty() throws IOException {
    assertThat(Workshop.inSharedMemory(group)).isEmpty();
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void twoJobsGetTheSameBatchesAsWithoutTheAgent(Jdk jdk) throws Exception {
    Path data = data(jdk, "shared", "content=1");
    ChildResult plain = use(jdk, data, UNSHUFFLED).run().orFail("The plain run");
    List<ChildResult> jobs =
        together(
            () -> use(jdk, data, UNSHUFFLED).agent(agentJar(), policies(2)).run(),
            () -> use(jdk, data, UNSHUFFLED).agent(agentJar(), policies(2)).run());
    for (ChildResult job : jobs) {
      SameOutput.check(job.orFail("The job"), plain);
      assertThat(job.err()).doesNotContain("fault").doesNotContain("leaves");
    }
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void batchesAreInTheCallersWorkspaceAsWithoutTheAgent(Jdk jdk) throws Exception {
    Path data = data(jdk, "workspace", "content=1");
    List<String> only = List.of("in a workspace", "halved in a workspace");
    ChildResult plain = use(jdk, data, only).run().orFail("The plain run");
    ChildResult job = use(jdk, data, only).agent(agentJar(), policies(1)).run();
    SameOutput.check(job.orFail("The job"), plain);
    assertThat(figure(job, ALONE)).isZero();
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void eachFileOfASequenceIsReadByOnlyOneJob(Jdk jdk) throws Exception {
    Path data = data(jdk, "reads", "content=1");
    List<String> use = List.of("sequences", "batch=2");
    List<ChildResult> jobs =
        together(
            () -> use(jdk, data, use).agent(agentJar(), policies(2)).run(),
            () -> use(jdk, data, use).agent(agentJar(), policies(2)).run());
    for (ChildResult job : jobs) {
      assertThat(figure(job, ALONE)).isZero();
    }
    assertThat(figure(jobs.get(0), PREPARED) + figure(jobs.get(1), PREPARED))
        .isEqualTo((long) EPOCHS * SEQUENCES / 2);
    // Features and labels of each sequence; each job also reads one file in advance.
    assertThat(figure(jobs.get(0), OPENED) + figure(jobs.get(1), OPENED))
        .isEqualTo(2L * EPOCHS * SEQUENCES + 2);
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void jobsThatShuffleFilesAgreeOnOneOrder(Jdk jdk) throws Exception {
    Path data = data(jdk, "shuffled", "content=1");
    List<String> use = List.of("csv shuffled");
    List<ChildResult> jobs =
        together(
            () -> use(jdk, data, use).args("seed=1").agent(agentJar(), policies(2)).run(),
            () -> use(jdk, data, use).args("seed=2").agent(agentJar(), policies(2)).run());
    SameOutput.check(jobs.get(0), jobs.get(1));
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      assertThat(numbers(jobs.get(0), epoch))
          .containsExactlyInAnyOrderElementsOf(IntStream.range(0, RECORDS).boxed().toList());
    }
    assertThat(figure(jobs.get(0), PREPARED) + figure(jobs.get(1), PREPARED))
        .isEqualTo((long) EPOCHS * BATCHES);
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aJobStillGetsItsBatchesWhenTheOtherIsKilled(Jdk jdk) throws Exception {
    Path data = data(jdk, "killed", "content=1");
    List<String> use = List.of("csv files", "sequences", "transformed");
    ChildResult plain = use(jdk, data, use).run().orFail("The plain run");
    // The first job dies in its first or second epoch; the other then waits for it.
    int batches = jdk.feature() < 24 ? 3 : BATCHES + 2;
    List<ChildResult> jobs =
        together(
            () ->
                waiting(WAITS[0], jdk, data, use)
                    .args("die=" + batches)
                    .agent(agentJar(), policies(2))
                    .run(),
            () -> waiting(WAITS[0], jdk, data, use).agent(agentJar(), policies(2)).run());
    assertThat(jobs.get(0).exit()).isEqualTo(SIGKILL_STATUS);
    SameOutput.check(jobs.get(1).orFail("The survivor"), plain);
    assertThat(jobs.get(1).err()).doesNotContain("fault");
  }

  /**
   * Seconds for which the first epoch waits for the other job. On a busy machine the jobs may start
   * so far apart that only the second try shows how they differ.
   */
  private static final int[] WAITS = {12, 60};

  private static ChildJvm waiting(int seconds, Jdk jdk, Path data, List<String> use)
      throws IOException {
    return use(jdk, data, use).jvmArgs("-Dcoordl.prep.start=" + seconds);
  }

  /** How a job differs, and part of the line that the agent logs. */
  private record Mismatch(String use, String setting, String message) {}

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aJobThatDiffersKeepsItsOwnPipelineAndReportsWhy(Jdk jdk) throws Exception {
    Path data = data(jdk, "differs", "content=1");
    Path other = data(jdk, "differs-other", "content=2");
    List<Mismatch> mismatches =
        Workshop.first(
            2,
            List.of(
                new Mismatch("csv", "", "it differs in its records: 100 in 1 file with checksum"),
                new Mismatch("sequences", "delimiter=;", "its reader: delimiter: \";\", not \",\""),
                new Mismatch("transformed", "factor=3", "it differs in its transform process:"),
                new Mismatch("csv", "batch=8", "it differs in its batch size: 8, not 7"),
                new Mismatch("csv", "label=1", "it differs in its arrays:"),
                new Mismatch(
                    "sequences",
                    "alignment=ALIGN_END",
                    "it differs in its alignment of sequences:")));
    // In parallel, because in each case the jobs wait for similar ones.
    List<Callable<Void>> all = new ArrayList<>();
    for (Mismatch mismatch : mismatches) {
      Path folder = mismatch.setting().isEmpty() ? other : data;
      String name = group + "-" + mismatches.indexOf(mismatch);
      all.add(
          () -> {
            assertSeparatePipelines(jdk, mismatch, data, folder, name);
            return null;
          });
    }
    together(all);
  }

  private static void assertSeparatePipelines(
      Jdk jdk, Mismatch mismatch, Path data, Path folder, String group) throws Exception {
    List<String> use = List.of(mismatch.use());
    String setting = mismatch.setting().isEmpty() ? "batch=7" : mismatch.setting();
    ChildResult usual = use(jdk, data, use).run().orFail("The plain run");
    ChildResult plain = use(jdk, folder, use).args(setting).run();
    String said = "";
    for (int i = 0; i < WAITS.length && !isNamed(said, mismatch); i++) {
      int seconds = WAITS[i];
      String policies = policies(2, group + "-" + seconds);
      List<ChildResult> jobs =
          together(
              () -> waiting(seconds, jdk, data, use).agent(agentJar(), policies).run(),
              () ->
                  waiting(seconds, jdk, folder, use)
                      .args(setting)
                      .agent(agentJar(), policies)
                      .run());
      SameOutput.check(mismatch.toString(), jobs.get(0), usual.out());
      SameOutput.check(mismatch.toString(), jobs.get(1), plain.out());
      said = jobs.get(0).err() + jobs.get(1).err();
    }
    assertThat(said).as(mismatch.toString()).contains("This job prepares all its batches itself.");
    assertThat(isNamed(said, mismatch)).as(mismatch + " in " + said).isTrue();
  }

  private static boolean isNamed(String said, Mismatch mismatch) {
    return said.contains(mismatch.message()) || said.contains(reversed(mismatch.message()));
  }

  /** Returns the same message from the other job's point of view. */
  private static String reversed(String message) {
    Matcher matcher = Pattern.compile("(.*(?: is |: ))(.*), not (.*)").matcher(message);
    return matcher.matches()
        ? matcher.group(1) + matcher.group(3) + ", not " + matcher.group(2)
        : message;
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void unshareableReadersAreLeftToTheLibraryAndReported(Jdk jdk) throws Exception {
    Path data = data(jdk, "alone", "content=1");
    List<String> uses =
        List.of(
            "in every way",
            "filtered",
            "own reader",
            "empty file",
            "other lengths",
            "failing",
            "csv files");
    ChildResult plain = use(jdk, data, uses).run().orFail("The plain run");
    ChildResult alone = use(jdk, data, uses).agent(agentJar(), policies(1)).run().orFail("The run");
    assertThat(plain.out().lines()).hasSizeGreaterThan(200);
    SameOutput.check(alone, plain);
    for (String left :
        List.of(
            "a TransformProcess with org.datavec.api.transform.filter.ConditionFilter (which may",
            "readers of class example.records.UseReaders$EverySecond",
            "readers of files without records (such as ",
            "iterators over readers with different numbers of records",
            "iterators that collect metadata")) {
      assertThat(alone.err()).containsOnlyOnce("prep=coordinate leaves " + left);
    }
    assertThat(alone.err()).doesNotContain("fault");
  }

  private static Path data(Jdk jdk, String name, String content) throws Exception {
    Path data = Workshop.empty("coordinated-records-" + name + "-" + jdk.version());
    use(jdk, data, List.of("write")).args(content).run().orFail("The data");
    return data;
  }

  private static ChildJvm use(Jdk jdk, Path data, List<String> uses) throws IOException {
    return Workshop.program(jdk, Framework.DL4J, "example.records.UseReaders")
        .jvmArgs("-Xmx512m")
        .directory(data)
        .args(data.toString())
        .args(uses.toArray(String[]::new));
  }

  private String policies(int jobs) {
    return policies(jobs, group);
  }

  /** Policies with a buffer smaller than an epoch, so no job is a whole epoch ahead. */
  private static String policies(int jobs, String group) {
    return "prep=coordinate,prep.size=64k,prep.jobs=" + jobs + ",group=" + group;
  }

  private static Path agentJar() {
    return Workshop.checkout().agentJar();
  }

  /** Runs both at the same time. */
  private static <T> List<T> together(Callable<T> one, Callable<T> two) throws Exception {
    return together(List.of(one, two));
  }

  /** Runs all, at most {@link #AT_ONCE} at the same time. */
  private static <T> List<T> together(List<Callable<T>> all) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> job : threads.invokeAll(all)) {
        results.add(job.get());
      }
      return results;
    } finally {
      threads.shutdown();
    }
  }

  /** Returns the numbers of an epoch's records. */
  private static List<Integer> numbers(ChildResult job, int epoch) {
    Pattern batch = Pattern.compile(".* " + epoch + ": numbers ([0-9,]+) .*");
    return job.out()
        .lines()
        .map(batch::matcher)
        .filter(Matcher::matches)
        .flatMap(line -> Arrays.stream(line.group(1).split(",", -1)))
        .map(Integer::valueOf)
        .toList();
  }

  private static long figure(ChildResult job, Pattern pattern) {
    for (String line : job.err().lines().toList()) {
      Matcher matcher = pattern.matcher(line);
      if (matcher.find()) {
        return Long.parseLong(matcher.group(1));
      }
    }
    throw new AssertionError("No agent line matches " + pattern + ":\n" + job.err());
  }
}
