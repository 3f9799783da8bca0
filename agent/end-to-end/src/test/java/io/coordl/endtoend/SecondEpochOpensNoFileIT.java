package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.Jdk;
import io.coordl.harness.OpenedFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Cached files are not opened again, as counted outside the JVM by strace. Each epoch of the
 * examples uses each file once, so a file that the job opened only once was opened in epoch 1.
 */
class SecondEpochOpensNoFileIT {
  @BeforeAll
  static void straceWorks() throws InterruptedException {
    assertThat(OpenedFiles.canTrace())
        .withFailMessage(
            "strace is missing or not allowed here; only it can count opened files from outside the"
                + " JVM (Debian, Ubuntu: apt-get install strace).")
        .isTrue();
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#frameworksAndJdks")
  void epochTwoOpensNoFile(Framework framework, Jdk jdk) throws IOException, InterruptedException {
    Path directory = Workshop.empty("opens-" + framework + "-" + jdk.version());
    List<Path> files = Pictures.all().files();

    Map<Path, Long> plain = opened(new Job(framework, jdk, directory, "plain"), directory);
    assertThat(plain).containsOnlyKeys(files);
    // Shows that the count works: without a cache, every epoch opens every file.
    Map<Path, Long> expected = new TreeMap<>();
    files.forEach(file -> expected.put(file, (long) Job.EPOCHS));
    if (framework.readAhead() == 1) {
      Path first = mostOpened(plain);
      expected.merge(first, 1L, Long::sum);
    }
    assertThat(plain).isEqualTo(expected);

    Map<Path, Long> cached =
        opened(
            new Job(framework, jdk, directory, "cached").agent("cache=minio,cache.size=64m"),
            directory);
    assertThat(cached)
        .containsOnlyKeys(files)
        .allSatisfy((file, count) -> assertThat(count).isOne());
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void laterEpochsHitExactlyTheResidentItems(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    for (int percent : Workshop.first(1, List.of(50, 25))) {
      laterEpochsHitExactlyTheResidentItems(framework, jdk, percent);
    }
  }

  private static void laterEpochsHitExactlyTheResidentItems(
      Framework framework, Jdk jdk, int percent) throws IOException, InterruptedException {
    Path directory = Workshop.empty("share-" + percent + "-" + framework + "-" + jdk.version());
    List<Path> files = Pictures.all().files();
    long budget = Pictures.all().bytes() * percent / 100;
    Job job =
        new Job(framework, jdk, directory, "cached").agent("cache=minio,cache.size=" + budget);
    Map<Path, Long> opened = opened(job, directory);
    Summary summary = Summary.of(job.recording());

    long resident = summary.store("items");
    long rest = files.size() - resident;
    // The store is full: not even the smallest uncached file fits. The budget includes the index.
    Set<Path> kept = new HashSet<>(files);
    kept.removeIf(file -> opened.get(file) != 1);
    long smallest = Long.MAX_VALUE;
    for (Path file : files) {
      if (!kept.contains(file)) {
        smallest = Math.min(smallest, Files.size(file));
      }
    }
    assertThat(summary.store("capacityBytes")).isBetween(budget - 4096, budget);
    assertThat(summary.store("usedBytes"))
        .isBetween(summary.store("capacityBytes") - smallest - 64, summary.store("capacityBytes"));

    // Outside the JVM: resident items were opened once, all others in every epoch.
    assertThat(kept).hasSize((int) resident);
    assertThat(opened)
        .containsOnlyKeys(files)
        .allSatisfy(
            (file, count) -> assertThat(count).isEqualTo(kept.contains(file) ? 1 : Job.EPOCHS));

    // In the recording: the same, epoch by epoch.
    assertThat(summary.epochs("memoryItems"))
        .containsExactly((long) framework.readAhead(), resident, resident);
    assertThat(summary.epochs("storageItems")).containsExactly((long) files.size(), rest, rest);
    assertThat(summary.store("admitted")).isEqualTo(resident);
    assertThat(summary.store("hits"))
        .isEqualTo((Job.EPOCHS - 1) * resident + framework.readAhead());
    assertThat(summary.store("misses")).isEqualTo(files.size() + (Job.EPOCHS - 1) * rest);
    assertThat(summary.store("bypassed")).isEqualTo(Job.EPOCHS * rest);
    assertThat(summary.total("storageItems")).isEqualTo(summary.store("misses"));
    assertThat(summary.total("memoryItems")).isEqualTo(summary.store("hits"));
    assertThat(summary.faults()).isZero();
  }

  private static Map<Path, Long> opened(Job job, Path directory)
      throws IOException, InterruptedException {
    Path trace = Files.createTempFile(directory, "opens", ".strace");
    Finished finished = job.wrapper(OpenedFiles.trace(trace)).runWell();
    assertThat(finished.batches()).isNotEmpty();
    return OpenedFiles.byFile(trace);
  }

  private static Path mostOpened(Map<Path, Long> opened) {
    return opened.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
  }
}
