package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import io.coordl.harness.OpenedFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** With decoded=share, cached images are not decoded again; batches and losses stay the same. */
class DecodedIT {
  private static final Pattern DECODED =
      Pattern.compile("decoded cache \\(\\w+\\): (\\d+) items.*; (\\d+) hits, (\\d+) misses, .*");
  private static final Pattern RAW =
      Pattern.compile("raw cache \\(\\w+\\): (\\d+) items.*; (\\d+) hits, (\\d+) misses, .*");
  private static final Pattern DECODES = Pattern.compile("decode: .* (\\d+) images decoded, .*");

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#frameworksAndJdks")
  void batchesAndLossesAreTheSameAndEpochTwoDecodesNothing(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("decoded-" + framework + "-" + jdk.version());
    Finished plain = plain(framework, jdk);
    int files = Pictures.all().files().size();
    int all = (Job.EPOCHS - 1) * files + framework.readAhead();

    Finished whole = job(framework, jdk, directory, "whole").agent("decoded=share").runWell();
    assertThat(whole.differenceFrom(plain)).isEmpty();
    assertThat(figure(whole, DECODED, 1)).isEqualTo(files);
    assertThat(figure(whole, DECODED, 2)).isEqualTo(all);
    assertThat(figure(whole, DECODES, 1)).isEqualTo(files);

    if (Workshop.FULL) { // Otherwise PrefetchIT covers both caches.
      Finished both =
          job(framework, jdk, directory, "both").agent("decoded=share,cache=minio").runWell();
      assertThat(both.differenceFrom(plain)).isEmpty();
      assertThat(figure(both, DECODED, 2)).isEqualTo(all);
    }

    Finished half =
        job(framework, jdk, directory, "half")
            .agent("decoded=share,decoded.size=" + decodedBytes(framework) * files / 2)
            .runWell();
    assertThat(half.differenceFrom(plain)).isEmpty();
    assertThat(figure(half, DECODED, 2)).isBetween(all / 3L, 2L * all / 3);

    if (Workshop.FULL) { // Otherwise AgentIT covers the kill switch.
      Finished off =
          job(framework, jdk, directory, "off").agent("decoded=share,enabled=false").runWell();
      assertThat(off.differenceFrom(plain)).isEmpty();
      assertThat(off.agentLines()).isEmpty();
    }
  }

  /** A data set calls {@code ImageIO.read(File)} and draws from its own random generator. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void picturesThatTheProgramDecodesAreCached(Jdk jdk) throws IOException, InterruptedException {
    ChildResult plain = PreparedIT.samples(jdk, "mirrored").run().orFail("without the agent");
    ChildResult kept =
        PreparedIT.samples(jdk, "mirrored")
            .agent(Workshop.checkout().agentJar(), "record=off,decoded=share")
            .run()
            .orFail("decoded=share");
    SameOutput.check(kept, plain);
    int files = Pictures.all().files().size();
    assertThat(kept.err()).doesNotContain("fault");
    Matcher cache = DECODED.matcher(kept.err());
    assertThat(cache.find()).as(kept.err()).isTrue();
    assertThat(cache.group(1)).isEqualTo(String.valueOf(files));
    assertThat(cache.group(2)).isEqualTo(String.valueOf(3 * files)); // In epochs 2 to 4.
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void aJobThatStartsLaterDecodesNoImage(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("decoded-host-" + framework + "-" + jdk.version());
    Finished plain = plain(framework, jdk);
    String policies =
        "decoded=share,cache=minio,cache.size=128m,cache.scope=host,group=" + UUID.randomUUID();
    List<Finished> second = new ArrayList<>();
    Finished first =
        job(framework, jdk, directory, "first")
            .args("--epochs", "1000")
            .agent(policies)
            .afterEpoch(
                2,
                () -> {
                  try {
                    second.add(job(framework, jdk, directory, "second").agent(policies).runWell());
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  } finally {
                    kill(directory);
                  }
                })
            .run();
    assertThat(second).as(first.result().err()).hasSize(1);
    assertThat(second.get(0).differenceFrom(plain)).isEmpty();
    assertThat(figure(second.get(0), DECODED, 2))
        .isEqualTo((long) Job.EPOCHS * Pictures.all().files().size() + framework.readAhead());
    assertThat(figure(second.get(0), DECODED, 3)).isZero();
  }

  /** Files come from the page cache and decoding dominates, so memory goes to decoded items. */
  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void aSmallBudgetGoesToDecodedItemsIfFilesAreFast(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("split-" + framework + "-" + jdk.version());
    Finished plain = plain(framework, jdk);
    Finished kept = job(framework, jdk, directory, "kept").agent(bothIn(framework, 2)).runWell();
    assertThat(kept.differenceFrom(plain)).isEmpty();
    assertThat(kept.agentLines()).anyMatch(line -> line.contains(", decoded items first: "));
    // If the agent did not choose, it would cache as many raw items as decoded ones.
    assertThat(2 * figure(kept, RAW, 1)).isLessThan(figure(kept, DECODED, 1));
    assertThat(kept.agentLines()).noneMatch(line -> line.contains("fault"));
  }

  /** Opening a file takes 20 ms longer, so memory goes to raw items first. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aSmallBudgetGoesToRawItemsIfFilesAreSlow(Jdk jdk) throws IOException, InterruptedException {
    Assumptions.assumeTrue(Workshop.FULL, "runs only with -Pfull");
    assumeTrue(OpenedFiles.canTrace(), "strace is missing or not allowed here");
    Path directory = Workshop.empty("split-slow-" + jdk.version());
    List<String> slowStorage = new ArrayList<>(OpenedFiles.trace(Path.of("/dev/null")));
    slowStorage.addAll(List.of("-e", "inject=open,openat:delay_enter=20000"));
    for (Path file : Pictures.all().files()) {
      slowStorage.addAll(List.of("-P", file.toString()));
    }
    Finished plain = plain(Framework.DJL, jdk);
    Finished kept =
        job(Framework.DJL, jdk, directory, "kept")
            .agent(bothIn(Framework.DJL, 5))
            .wrapper(slowStorage)
            .runWell();
    assertThat(kept.differenceFrom(plain)).isEmpty();
    assertThat(kept.agentLines()).anyMatch(line -> line.contains(", raw items first: "));
    assertThat(figure(kept, RAW, 1)).isEqualTo(Pictures.all().files().size());
    assertThat(figure(kept, DECODED, 1)).isBetween(1L, Pictures.all().files().size() / 5L);
  }

  private static String bothIn(Framework framework, int part) throws IOException {
    long bytes = decodedBytes(framework) * Pictures.all().files().size() / part;
    return "cache=minio,decoded=share,cache.size=" + bytes;
  }

  /** The program draws on its images, resizes them, and passes them on. */
  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#frameworksAndJdks")
  void everyUseOfAnImageWorksAsWithoutTheAgent(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("decoded-uses-" + framework + "-" + jdk.version());
    ChildResult plain = useImages(framework, jdk, directory).run().orFail("The plain run");
    ChildResult kept =
        useImages(framework, jdk, directory)
            .agent(Workshop.checkout().agentJar(), "record=off,decoded=share,dataset=" + directory)
            .run()
            .orFail("The run with the agent");
    assertThat(plain.out().lines()).hasSizeGreaterThan(80);
    SameOutput.check(kept, plain);
    assertThat(kept.err()).contains("decoded cache (process)").doesNotContain("fault");
  }

  /** The program's transform runs each time, but on an image that is decoded only once. */
  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aLoaderWithATransformDecodesEachPictureOnce(Jdk jdk)
      throws IOException, InterruptedException {
    Path pictures = Pictures.all().directory();
    ChildResult kept =
        Workshop.program(jdk, Framework.DL4J, "example.images.MatrixCost")
            .args(pictures.toString(), "3", "flip")
            .agent(Workshop.checkout().agentJar(), "record=off,decoded=share,dataset=" + pictures)
            .run()
            .orFail("The run with the agent");
    int files = Pictures.all().files().size();
    Matcher matcher = DECODED.matcher(kept.err());
    assertThat(matcher.find()).as(kept.err()).isTrue();
    assertThat(Integer.parseInt(matcher.group(1))).isEqualTo(files);
    assertThat(Integer.parseInt(matcher.group(2))).isEqualTo(2 * files);
    assertThat(Integer.parseInt(matcher.group(3))).isEqualTo(files);
    assertThat(kept.err()).doesNotContain("fault");
  }

  /** Detection labels depend on each picture's original size. */
  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aDetectionReaderDecodesEachPictureOnce(Jdk jdk) throws IOException, InterruptedException {
    ChildResult plain = useDetection(jdk).run().orFail("The plain run");
    ChildResult kept =
        useDetection(jdk)
            .agent(Workshop.checkout().agentJar(), "record=off,decoded=share")
            .run()
            .orFail("The run with the agent");
    int files = Pictures.all().files().size();
    assertThat(plain.out().lines()).hasSize(3 * files);
    SameOutput.check(kept, plain);
    Matcher matcher = DECODED.matcher(kept.err());
    assertThat(matcher.find()).as(kept.err()).isTrue();
    assertThat(Integer.parseInt(matcher.group(1))).isEqualTo(files);
    assertThat(Integer.parseInt(matcher.group(2))).isEqualTo(2 * files);
    assertThat(kept.err()).doesNotContain("fault").doesNotContain("did nothing");
  }

  private static ChildJvm useDetection(Jdk jdk) throws IOException {
    return Workshop.program(jdk, Framework.DL4J, "example.images.UseDetection")
        .args(Pictures.all().directory().toString());
  }

  private static ChildJvm useImages(Framework framework, Jdk jdk, Path directory)
      throws IOException {
    String program = framework == Framework.DJL ? "UseImages" : "UseMatrices";
    return Workshop.program(jdk, framework, "example.images." + program).args(directory.toString());
  }

  /** Without random crops, because DJL's threads share one random generator. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void batchesLoadedByThreadsAreTheSame(Jdk jdk) throws IOException, InterruptedException {
    Path directory = Workshop.empty("decoded-threads-" + jdk.version());
    String[] threads = {"--threads", "2", "--augment", "false"};
    Finished plain = Job.plain(Framework.DJL, jdk, threads);
    Finished kept =
        new Job(Framework.DJL, jdk, directory, "kept")
            .args(threads)
            .agent("decoded=share")
            .runWell();
    assertThat(kept.differenceFrom(plain)).isEmpty();
    assertThat(figure(kept, DECODED, 2))
        .isEqualTo((Job.EPOCHS - 1L) * Pictures.all().files().size());
  }

  /** Kills processes that run in {@code directory}; command lines are too long to compare. */
  private static void kill(Path directory) {
    ProcessHandle.current()
        .descendants()
        .filter(child -> runsIn(child, directory))
        .forEach(ProcessHandle::destroy);
  }

  private static boolean runsIn(ProcessHandle child, Path directory) {
    try {
      return Files.readSymbolicLink(Path.of("/proc/" + child.pid() + "/cwd")).equals(directory);
    } catch (IOException e) {
      return false;
    }
  }

  private static Job job(Framework framework, Jdk jdk, Path directory, String name)
      throws IOException {
    return new Job(framework, jdk, directory, name).args(size(framework));
  }

  private static Finished plain(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    return Job.plain(framework, jdk, size(framework));
  }

  /** Makes half of the decoded data set larger than the smallest allowed budget. */
  private static String[] size(Framework framework) {
    return framework == Framework.DL4J ? new String[] {"--size", "128"} : new String[0];
  }

  private static long decodedBytes(Framework framework) {
    return framework == Framework.DJL ? 480 * 400 * 3 : 128 * 128 * 3;
  }

  private static long figure(Finished job, Pattern pattern, int group) {
    for (String line : job.agentLines()) {
      Matcher matcher = pattern.matcher(line);
      if (matcher.matches()) {
        return Long.parseLong(matcher.group(group));
      }
    }
    throw new AssertionError("No agent line matches " + pattern + ":\n" + job.result().err());
  }
}
