package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import io.coordl.harness.OpenedFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * With checkpoint=, model files have the same content as without the agent; after a kill, or if a
 * file is damaged, a complete model can still be loaded. Agent checkpoints do not change the
 * training and also survive kills.
 */
class CheckpointIT {
  private static final String DL4J =
      "network,graph,listener,every,all,saver,samediff,changed,odd,exit";
  private static final String DJL = "save,numbered,listener,ending,odd,exit";
  private static final List<String> POLICIES = List.of("atomic", "async");
  private static final Pattern SAVED = Pattern.compile("(?m)^(?:iteration|epoch) (\\d+)$");
  private static final Pattern STEP = Pattern.compile("(?m)^step (\\d+) ");
  private static final Pattern LAST = Pattern.compile("(?m)^last (\\d+)");
  private static final int KILLS = Integer.getInteger("coordl.kills", Workshop.FULL ? 20 : 1);

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#frameworksAndJdks")
  void everyFileIsTheSame(Framework framework, Jdk jdk) throws Exception {
    String all = framework == Framework.DJL ? DJL : DL4J;
    ChildResult plain =
        models(framework, jdk, all, folder(framework, jdk, "files")).run().orFail("plain");
    for (String policy : POLICIES) {
      Path folder = folder(framework, jdk, "files");
      ChildResult kept = agent(models(framework, jdk, all, folder), policy).run().orFail(policy);
      assertThat(kept.out()).as(policy).isEqualTo(plain.out());
      assertThat(kept.err()).doesNotContain("fault").contains("model files written whole");
      assertThat(leftovers(folder)).isEmpty();
    }
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void withoutMemoryForASnapshotTheJobWaitsForTheWrite(Framework framework, Jdk jdk)
      throws Exception {
    String all = framework == Framework.DJL ? "save" : "network,listener,samediff";
    ChildResult plain =
        models(framework, jdk, all, folder(framework, jdk, "room")).run().orFail("plain");
    Path folder = folder(framework, jdk, "room");
    ChildResult kept =
        agent(models(framework, jdk, all, folder), "async,checkpoint.size=1k").run().orFail("1k");
    assertThat(kept.out()).isEqualTo(plain.out());
    assertThat(kept.err()).contains("checkpoint.size").doesNotContain("fault");
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void aCompleteFileSurvivesEveryKill(Framework framework, Jdk jdk) throws Exception {
    for (int i = 0; i < KILLS; i++) {
      for (String policy : POLICIES) {
        Path folder = folder(framework, jdk, "killed");
        int saved = kill(models(framework, jdk, "endless", folder), policy, 2 + 7 * i % 31, i);
        ChildResult after =
            agent(models(framework, jdk, "last", folder), policy).run().orFail("the next job");
        assertThat(figure(LAST, after))
            .as(policy + " after " + saved)
            .isGreaterThanOrEqualTo(policy.equals("atomic") ? saved : saved - 1);
        assertThat(after.err()).doesNotContain("damaged", "fault");
        assertThat(leftovers(folder)).isEmpty();
      }
    }
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void insteadOfADamagedFileThePreviousOneIsLoaded(Framework framework, Jdk jdk) throws Exception {
    Path folder = folder(framework, jdk, "damaged");
    int saved = kill(models(framework, jdk, "endless", folder), "atomic", 4, 0);
    ChildResult whole =
        agent(models(framework, jdk, "last", folder), "atomic").run().orFail("whole");
    int last = figure(LAST, whole);
    assertThat(last).isGreaterThanOrEqualTo(saved);
    Path newest = newest(folder.resolve("endless"));
    try (RandomAccessFile file = new RandomAccessFile(newest.toFile(), "rw")) {
      file.seek(file.length() / 2);
      int bits = file.read();
      file.seek(file.length() / 2);
      file.write(bits ^ 4);
    }
    ChildResult after =
        agent(models(framework, jdk, "last", folder), "atomic").run().orFail("the one before");
    assertThat(figure(LAST, after)).isEqualTo(last - 1);
    assertThat(after.err()).contains(newest.getFileName() + " is damaged");
  }

  /** Each forced write takes a tenth of a second longer. */
  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void aSlowDiskChangesNothing(Framework framework, Jdk jdk) throws Exception {
    Assumptions.assumeTrue(OpenedFiles.canTrace(), "strace is missing or not allowed here");
    List<String> slow =
        List.of(
            "strace",
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "trace=fsync,fdatasync",
            "-e",
            "inject=fsync,fdatasync:delay_enter=100000");
    String some = framework == Framework.DJL ? "save,listener,exit" : "network,listener,exit";
    ChildResult plain =
        models(framework, jdk, some, folder(framework, jdk, "slow")).run().orFail("plain");
    for (String policy : Workshop.first(1, List.of("async", "atomic"))) {
      Path folder = folder(framework, jdk, "slow");
      ChildResult kept =
          agent(models(framework, jdk, some, folder), policy).wrapper(slow).run().orFail(policy);
      assertThat(kept.out()).as(policy).isEqualTo(plain.out());
      assertThat(kept.err()).doesNotContain("fault").contains("model files written whole");
      assertThat(leftovers(folder)).isEmpty();
    }
  }

  /** The disk has room for only a few models. */
  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void aFullDiskFailsASaveAsWithoutTheAgent(Framework framework, Jdk jdk) throws Exception {
    Assumptions.assumeTrue(
        Shell.works("unshare", "--mount", "true"), "a small disk cannot be mounted here");
    for (String policy : POLICIES) {
      Path folder = folder(framework, jdk, "full");
      ChildResult full =
          agent(models(framework, jdk, "endless", folder), policy)
              .wrapper(
                  List.of(
                      "unshare",
                      "--mount",
                      "sh",
                      "-c",
                      "mount -t tmpfs -o size=3m tmpfs \"$0\" && \"$@\"; status=$?;"
                          + " ls -A \"$0/endless\" >&2; exit $status",
                      folder.toString()))
              .run();
      assertThat(full.exit()).isNotZero();
      assertThat(full.err()).contains("No space left on device").doesNotContain(".incomplete\n");
      assertThat(figure(SAVED, full)).isPositive();
    }
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#frameworksAndJdks")
  void agentCheckpointsDoNotChangeTraining(Framework framework, Jdk jdk) throws Exception {
    List<String> steps = steps(framework, jdk);
    // ResumeIT also takes agent checkpoints with checkpoint=atomic.
    for (String every :
        Workshop.first(2, List.of("90,checkpoint=atomic", "auto,checkpoint.overhead=50%", "7"))) {
      Path folder = folder(framework, jdk, "own");
      Path own = folder.resolve("own");
      ChildResult kept =
          own(models(framework, jdk, "steps", folder), own, every + ",checkpoint.keep=2").run();
      assertThat(kept.orFail(every).out().lines().toList()).as(every).isEqualTo(steps);
      assertThat(kept.err()).doesNotContain("fault");
      if (kept.err().contains("did nothing: the job ended before the first checkpoint was due")) {
        assertThat(every).as("only auto waits until it can afford a checkpoint").startsWith("auto");
        assertThat(names(own.resolve(model(framework)))).isEmpty();
        continue;
      }
      assertThat(kept.err()).contains("agent checkpoint", " in " + own);
      // Storage may be so slow that the job ends before the first background write.
      boolean waits = every.endsWith("atomic");
      List<String> left = names(own.resolve(model(framework)));
      assertThat(left)
          .as("%s: %s", every, kept.err())
          .hasSizeBetween(
              waits ? 3 : 0, kept.err().contains("storage has accepted no bytes") ? 4 : 3);
      if (waits || left.contains("latest")) {
        assertThat(newest(framework, jdk, folder, steps)).isPositive();
      }
    }
  }

  private static String model(Framework framework) {
    return framework == Framework.DJL ? "mlp" : "model";
  }

  private static List<String> names(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(directory)) {
      return all.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void theNewestAgentCheckpointSurvivesEveryKill(Framework framework, Jdk jdk) throws Exception {
    List<String> steps = steps(framework, jdk);
    for (int i = 0; i < KILLS; i++) {
      Path folder = folder(framework, jdk, "own-killed");
      Path own = folder.resolve("own");
      int wait = i % 9;
      ChildResult killed =
          runUntil(
              own(models(framework, jdk, "ongoing", folder), own, "continuous"),
              20 + 7 * i % 31,
              () -> Files.exists(own.resolve(model(framework)).resolve("latest")),
              process -> {
                sleep(wait);
                process.destroyForcibly();
              });
      int last = figure(STEP, killed);
      // The newest checkpoint may follow a step that the job had not yet printed.
      int newest = newest(framework, jdk, folder, steps);
      assertThat(newest).isBetween(1, last + 1);
      if (i == 0) { // A run without resume= must not overwrite the old checkpoints.
        ChildResult after =
            own(models(framework, jdk, "steps", folder), own, "90,checkpoint=atomic").run();
        assertThat(after.orFail("the job after").err()).contains("has the checkpoints of another");
        assertThat(newest(framework, jdk, folder, steps)).isEqualTo(newest);
        assertThat(names(own.resolve("run.2").resolve(model(framework)))).contains("latest");
      }
    }
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void onSigtermTheLastStepIsSaved(Framework framework, Jdk jdk) throws Exception {
    List<String> steps = steps(framework, jdk);
    for (int i = 0; i < KILLS; i++) {
      Path folder = folder(framework, jdk, "own-sigterm");
      Path own = folder.resolve("own");
      int printed = 20 + i;
      ChildResult job =
          runUntil(
              own(models(framework, jdk, "ongoing", folder), own, "100000,checkpoint.grace=600"),
              printed,
              () -> true,
              ProcessHandle::destroy);
      assertThat(job.err()).contains("1 agent checkpoint in ").doesNotContain("fault");
      assertThat(newest(framework, jdk, folder, steps)).isBetween(printed, figure(STEP, job) + 1);
    }
  }

  /** Returns each step's line with the checksum of the weights, from a run that tests share. */
  private static List<String> steps(Framework framework, Jdk jdk) throws Exception {
    Path folder = Workshop.shared("checkpoint-steps-" + framework + "-" + jdk.version());
    return models(framework, jdk, "steps", folder).runOnce().orFail("plain").out().lines().toList();
  }

  /** Returns the step after which the newest checkpoint was taken. */
  private static int newest(Framework framework, Jdk jdk, Path folder, List<String> steps)
      throws Exception {
    ChildResult loaded =
        agent(models(framework, jdk, "newest", folder), "atomic").run().orFail("the next job");
    assertThat(loaded.err()).doesNotContain("damaged", "fault");
    String weights =
        loaded.out().lines().filter(line -> line.startsWith("step ")).findFirst().orElseThrow();
    String sum = weights.substring(weights.lastIndexOf(' '));
    List<String> with =
        steps.stream().filter(line -> line.startsWith("step ") && line.endsWith(sum)).toList();
    assertThat(with).as(weights).hasSize(1);
    Matcher step = STEP.matcher(with.get(0));
    assertThat(step.find()).isTrue();
    return Integer.parseInt(step.group(1));
  }

  private static ChildJvm own(ChildJvm child, Path own, String every) {
    return child.agent(
        Workshop.checkout().agentJar(),
        "record=off,checkpoint.dir=" + own + ",checkpoint.every=" + every);
  }

  /** Runs a job; applies {@code end} once {@code steps} are printed and {@code ready} is true. */
  private static ChildResult runUntil(
      ChildJvm job, int steps, BooleanSupplier ready, Consumer<ProcessHandle> end)
      throws Exception {
    AtomicReference<ProcessHandle> process = new AtomicReference<>();
    AtomicInteger lines = new AtomicInteger();
    AtomicBoolean over = new AtomicBoolean();
    return job.started(process::set)
        .echo(
            line -> {
              if (line.startsWith("step ")
                  && lines.incrementAndGet() >= steps
                  && ready.getAsBoolean()
                  && over.compareAndSet(false, true)) {
                process.get().descendants().forEach(end);
              }
            })
        .run();
  }

  /**
   * Kills a job {@code millis} ms after it has saved this many models; returns the number of the
   * last model that the job printed.
   */
  private static int kill(ChildJvm job, String policy, int saves, int millis) throws Exception {
    AtomicReference<ProcessHandle> process = new AtomicReference<>();
    AtomicInteger lines = new AtomicInteger();
    ChildResult killed =
        agent(job, policy)
            .started(process::set)
            .echo(
                line -> {
                  if (SAVED.matcher(line).matches() && lines.incrementAndGet() == saves) {
                    sleep(millis);
                    process.get().descendants().forEach(ProcessHandle::destroyForcibly);
                  }
                })
            .run();
    assertThat(killed.exit()).as(killed.err()).isNotZero();
    return figure(SAVED, killed);
  }

  /** Varies the point of a save at which a job is killed. */
  private static void sleep(int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static ChildJvm models(Framework framework, Jdk jdk, String programs, Path folder)
      throws IOException {
    String name = framework == Framework.DJL ? "DjlModels" : "Dl4jModels";
    return Workshop.program(jdk, framework, "example.checkpoints." + name)
        .args(
            programs,
            folder.toString(),
            programs.equals("endless") || programs.equals("last") ? "300" : "30");
  }

  private static ChildJvm agent(ChildJvm child, String policy) {
    return child.agent(Workshop.checkout().agentJar(), "record=off,checkpoint=" + policy);
  }

  private static Path folder(Framework framework, Jdk jdk, String name) throws IOException {
    return Workshop.empty("checkpoint-" + name + "-" + framework + "-" + jdk.version());
  }

  private static List<Path> leftovers(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".incomplete")).toList();
    }
  }

  private static Path newest(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().matches(".*(Network\\.zip|mlp-\\d+\\.params)"))
          .max((a, b) -> Long.compare(a.toFile().lastModified(), b.toFile().lastModified()))
          .orElseThrow();
    }
  }

  /** Returns the last number that the job printed in this form. */
  private static int figure(Pattern pattern, ChildResult job) {
    int figure = -1;
    Matcher matcher = pattern.matcher(job.out());
    while (matcher.find()) {
      figure = Integer.parseInt(matcher.group(1));
    }
    assertThat(figure).as(job.out() + job.err()).isNotNegative();
    return figure;
  }
}
