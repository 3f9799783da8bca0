package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** With resume=, an interrupted job continues as if nothing had happened. */
class ResumeIT {
  private static final int BATCH = 10;
  private static final int EVERY = 3;
  private static final Pattern ITEMS = Pattern.compile("items: ([\\d,]+) from storage");
  private static final Pattern STEP = Pattern.compile("continues from .*, after step (\\d+)\\.");

  /** Policies under which the agent caches or prefetches data. */
  private static final String POLICIES = ",cache=minio,decoded=share,prepared=share,prefetch=2";

  static Stream<Arguments> programs(TestInfo test) {
    List<Arguments> all = new ArrayList<>();
    all.addAll(
        of(
            test,
            Framework.DL4J,
            List.of("images", "augmented", "graph", "lines", "hand", "stopped")));
    all.addAll(
        of(
            test,
            Framework.DJL,
            List.of("saved", "imagescropped", "hand", "fit", "images", "imagesexecutor")));
    return all.stream();
  }

  private static List<Arguments> of(TestInfo test, Framework framework, List<String> programs) {
    return Workshop.frameworksAndJdks(test)
        .filter(of -> of.get()[0] == framework)
        .flatMap(
            of ->
                Workshop.first(2, programs).stream()
                    .map(program -> Arguments.of(framework, of.get()[1], program)))
        .toList();
  }

  @ParameterizedTest(name = "{0} on {1}: {2}")
  @MethodSource("programs")
  void anInterruptedJobContinuesAsIfNothingHappened(Framework framework, Jdk jdk, String program)
      throws Exception {
    Path uninterrupted = uninterrupted(framework, jdk, program);
    List<String> plain = plain(framework, jdk, program, uninterrupted);
    for (String policies : policies(program)) {
      // Steps of the first epoch and of later ones.
      for (int halt : Workshop.first(1, List.of(31, 9, 23, 54))) {
        Path folder = folder(framework, jdk, program, policies.isEmpty() ? "cut" : "policies");
        ChildResult cut = cut(framework, jdk, program, folder, policies, halt);
        List<String> lines = cut.out().lines().toList();
        assertThat(lines).isNotEmpty().isEqualTo(plain.subList(0, lines.size()));
        ChildResult resumed = resumed(framework, jdk, program, folder, policies);
        List<String> rest = resumed.out().lines().toList();
        assertThat(rest).isEqualTo(plain.subList(plain.size() - rest.size(), plain.size()));
        assertThat(saved(folder)).isEqualTo(saved(uninterrupted));
        assertThat(resumed.err()).contains("resume: continues from").doesNotContain("fault");
        assertThat(rest.size())
            .as("lines of the resumed job, which repeats only unsaved steps")
            .isBetween(plain.size() - lines.size(), plain.size() - 1);
        // The remaining epochs, unless the program's own loop hides how many are planned.
        Summary summary = Summary.of(folder.resolve("job.jfr"));
        boolean planned = !List.of("hand", "images", "augmented").contains(program);
        assertThat(summary.total("plannedEpochs"))
            .isEqualTo(
                planned || (framework == Framework.DJL && !program.equals("hand"))
                    ? summary.total("epochs")
                    : 0);
        if (program.equals("images") && policies.isEmpty()) {
          Matcher items = ITEMS.matcher(resumed.err());
          assertThat(items.find()).as(resumed.err()).isTrue();
          long batches = rest.stream().filter(line -> line.matches("(step|batch) .*")).count();
          // The last used batch is read again, and DL4J reads a record to learn the shape.
          assertThat(Integer.parseInt(items.group(1).replace(",", "")))
              .isLessThanOrEqualTo(BATCH * ((int) batches + 1) + 1);
        }
      }
    }
  }

  /** Without -Pfull, one set of policies for each image program. */
  private static List<String> policies(String program) {
    if (!program.startsWith("images")) {
      return List.of("");
    }
    return Workshop.first(
        1, program.equals("images") ? List.of("", POLICIES) : List.of(POLICIES, ""));
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void aJobThatCannotUseTheNewestCheckpointUsesAnEarlierOneOrNone(Framework framework, Jdk jdk)
      throws Exception {
    String program = "hand";
    List<String> plain = plain(framework, jdk, program, uninterrupted(framework, jdk, program));
    Path folder = folder(framework, jdk, program, "bad");
    ChildResult nothing = resumed(framework, jdk, program, folder, "");
    assertThat(nothing.out().lines()).isEqualTo(plain);
    assertThat(nothing.err()).contains("cannot continue from", "no complete agent checkpoint");

    Path model;
    try (Stream<Path> models = Files.list(folder.resolve("own"))) {
      model =
          models
              .filter(path -> !path.getFileName().toString().startsWith("."))
              .findFirst()
              .orElseThrow();
    }
    int newest = step(resumed(framework, jdk, program, folder, ""));
    flip(model.resolve("latest").toRealPath().resolve(".coordl/state"));
    ChildResult before = resumed(framework, jdk, program, folder, "");
    assertThat(before.err()).contains("is damaged, and is not used");
    assertThat(step(before)).isLessThan(newest);
    List<String> rest = before.out().lines().toList();
    assertThat(rest).isEqualTo(plain.subList(plain.size() - rest.size(), plain.size()));

    // Checkpoints of two models are never of the same moment, so the job does not use them.
    Path other = Files.createDirectories(model.resolveSibling("other/000001/.coordl"));
    Files.createFile(other.resolve("checkpoint"));
    ChildResult two = resumed(framework, jdk, program, folder, "");
    assertThat(two.err()).contains("checkpoints of several models");
    assertThat(two.out().lines()).isEqualTo(plain);
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void checkpointsOfAnotherModelAreLeftAlone(Framework framework, Jdk jdk) throws Exception {
    String wider = "images";
    List<String> plain = plain(framework, jdk, wider, uninterrupted(framework, jdk, wider));
    Path folder = folder(framework, jdk, wider, "other");
    cut(framework, jdk, "hand", folder, "", 31);
    Map<String, String> left = files(folder.resolve("own"));
    ChildResult other = resumed(framework, jdk, wider, folder, "");
    assertThat(other.out().lines()).isEqualTo(plain);
    assertThat(other.err())
        .contains("other parameters", "has the checkpoints of another run", "run.2")
        .doesNotContain("fault");
    assertThat(files(folder.resolve("own"))).containsAllEntriesOf(left);
  }

  /** The job continues from its own model, as without the agent; no step is lost. */
  @ParameterizedTest(name = "on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void aProgramThatResumesFromItsOwnModelIsLeftAlone(Framework any, Jdk jdk) throws Exception {
    String program = "reloading";
    Path folder = folder(Framework.DL4J, jdk, program, "own");
    cut(Framework.DL4J, jdk, program, folder, "", 31);
    Path plain = folder(Framework.DL4J, jdk, program, "plain");
    Files.copy(folder.resolve("own.zip"), plain.resolve("own.zip"));
    List<String> without = plain(Framework.DL4J, jdk, program, plain);
    ChildResult resumed = resumed(Framework.DL4J, jdk, program, folder, "");
    assertThat(resumed.out().lines()).isEqualTo(without).hasSizeGreaterThan(20);
    assertThat(resumed.err())
        .contains("resume: cannot continue from", "own.zip, which is not the model")
        .doesNotContain("fault");
  }

  /** Returns all files below a directory with their contents. */
  private static Map<String, String> files(Path directory) throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        files.put(
            directory.relativize(file).toString(),
            HexFormat.of().formatHex(Files.readAllBytes(file)));
      }
    }
    return files;
  }

  /** Returns the directory of the run without the agent, which all tests share. */
  private static Path uninterrupted(Framework framework, Jdk jdk, String program) {
    return Workshop.shared("resume-" + program + "-uncut-" + framework + "-" + jdk.version());
  }

  /** Returns the program's output without the agent. */
  private static List<String> plain(Framework framework, Jdk jdk, String program, Path folder)
      throws Exception {
    return job(framework, jdk, program, folder, -1)
        .runOnce()
        .orFail("plain")
        .out()
        .lines()
        .toList();
  }

  /** Returns the models that the program itself saved, by name. */
  private static Map<String, String> saved(Path folder) throws IOException {
    Path saves = folder.resolve("kept");
    if (!Files.exists(saves)) {
      return Map.of();
    }
    Map<String, String> saved = new TreeMap<>();
    try (Stream<Path> files = Files.list(saves)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        saved.put(
            file.getFileName().toString(), HexFormat.of().formatHex(Files.readAllBytes(file)));
      }
    }
    return saved;
  }

  private static int step(ChildResult resumed) {
    Matcher step = STEP.matcher(resumed.err());
    assertThat(step.find()).as(resumed.err()).isTrue();
    return Integer.parseInt(step.group(1));
  }

  private static void flip(Path file) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(9);
      int old = bytes.read();
      bytes.seek(9);
      bytes.write(old ^ 1);
    }
  }

  private static ChildResult cut(
      Framework framework, Jdk jdk, String program, Path folder, String policies, int halt)
      throws Exception {
    ChildResult cut =
        agent(job(framework, jdk, program, folder, halt), folder, "record=off" + policies).run();
    assertThat(cut.exit()).as(cut.err()).isEqualTo(9);
    assertThat(cut.err()).doesNotContain("fault");
    return cut;
  }

  private static ChildResult resumed(
      Framework framework, Jdk jdk, String program, Path folder, String policies) throws Exception {
    return agent(
            job(framework, jdk, program, folder, -1),
            folder,
            "record=" + folder.resolve("job.jfr") + ",resume=" + folder.resolve("own") + policies)
        .run()
        .orFail("resumed");
  }

  private static ChildJvm agent(ChildJvm child, Path folder, String arguments) {
    return child.agent(
        Workshop.checkout().agentJar(),
        arguments
            + ",checkpoint.dir="
            + folder.resolve("own")
            + ",checkpoint.keep=9,checkpoint=atomic,checkpoint.every="
            + EVERY);
  }

  private static ChildJvm job(Framework framework, Jdk jdk, String program, Path folder, int halt)
      throws IOException {
    String name = framework == Framework.DJL ? "DjlJobs" : "Dl4jJobs";
    return Workshop.program(jdk, framework, "example.resume." + name)
        .args(program, folder.toString(), Integer.toString(halt));
  }

  private static Path folder(Framework framework, Jdk jdk, String program, String name)
      throws IOException {
    return Workshop.empty("resume-" + program + "-" + name + "-" + framework + "-" + jdk.version());
  }
}
