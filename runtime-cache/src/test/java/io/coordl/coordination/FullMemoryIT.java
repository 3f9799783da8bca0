package io.coordl.coordination;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job whose shared memory is full prepares batches locally: it logs that at most once, continues,
 * and leaves no file behind. The memory is a tmpfs of 512 KiB that only the job's JVM sees.
 */
class FullMemoryIT {
  /** Two epochs of 24 batches. */
  private static final int BATCHES = 48;

  @TempDir Path directory;

  private record Ended(int status, List<String> lines) {}

  private Ended run(String... command) throws IOException, InterruptedException {
    List<String> all =
        new ArrayList<>(
            List.of(
                "unshare",
                "--mount",
                "--map-root-user",
                "/bin/sh",
                "-c",
                "mount -t tmpfs -o size=512k tmpfs \"$1\" && shift && exec \"$@\"",
                "sh",
                directory.toString()));
    all.addAll(List.of(command));
    Process process = new ProcessBuilder(all).redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.waitFor(), out.lines().toList());
  }

  private List<String> job(String when) throws IOException, InterruptedException {
    Ended probe;
    try {
      probe = run("true");
    } catch (IOException e) {
      probe = new Ended(-1, List.of(e.toString()));
    }
    if (probe.status() != 0) {
      String reason = "a private tmpfs cannot be mounted for a job: " + probe.lines();
      System.out.println("FullMemoryIT, " + when + ": skipped, " + reason);
      Assumptions.abort(reason);
    }
    Ended job =
        run(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx64m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("coordl.test.classes", "target/classes:target/test-classes"),
            FullMemoryJob.class.getName(),
            directory.toString(),
            when);
    assertThat(job.status()).as("%s", job.lines()).isZero();
    assertThat(job.lines()).endsWith("done");
    assertThat(job.lines()).noneMatch(line -> line.startsWith("WRONG"));
    assertThat(job.lines()).noneMatch(line -> line.startsWith("left"));
    return job.lines();
  }

  private static String logLine(List<String> lines) {
    List<String> logLines = lines.stream().filter(line -> line.startsWith("logged ")).toList();
    assertThat(logLines).as("%s", lines).hasSize(1);
    return logLines.get(0);
  }

  private static int given(List<String> lines) {
    return lines.stream()
        .filter(line -> line.startsWith("given "))
        .mapToInt(line -> Integer.parseInt(line.substring("given ".length())))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void survivesFullMemoryBeforeTheBufferExists() throws Exception {
    List<String> lines = job("before");
    assertThat(logLine(lines))
        .contains(" bytes long, but needs at least ")
        .contains("prepares all batches of this pipeline");
    assertThat(given(lines)).isZero();
  }

  @Test
  void survivesFullMemoryWhileTheBufferIsCreated() throws Exception {
    List<String> lines = job("for-half-of-its-head");
    assertThat(logLine(lines))
        .contains("No space left on device")
        .contains("prepares all batches of this pipeline");
    assertThat(given(lines)).isZero();
  }

  @Test
  void survivesFullMemoryBeforeABatchIsStaged() throws Exception {
    List<String> lines = job("before-a-batch");
    assertThat(logLine(lines)).contains("No memory left to grow the staging buffer");
    assertThat(given(lines)).isZero();
  }

  /** Slots that have memory stay in use. */
  @Test
  void survivesFullMemoryMidway() throws Exception {
    List<String> lines = job("midway");
    assertThat(given(lines)).isBetween(2, BATCHES);
    // Silent if all slots had their memory by then, which depends on timing.
    assertThat(lines.stream().filter(line -> line.startsWith("logged ")).count()).isLessThan(2);
  }
}
