package io.coordl.coordination;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Another program of the same user truncates the file of a live staging buffer. */
@Tag("slow")
class DamagedStagingTest {
  private static final int JOBS = 2;

  @TempDir Path shared;
  private final List<Process> jobs = new ArrayList<>();

  @AfterEach
  void endJobs() {
    jobs.forEach(Process::destroyForcibly);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 4096, 200_000})
  void jobsOfATruncatedBufferPrepareTheirOwnBatchesAndEnd(long length) throws Exception {
    List<BufferedReader> outputs = new ArrayList<>();
    for (int i = 0; i < JOBS; i++) {
      Process job =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:ErrorFile=/dev/null",
                  "-Xmx64m",
                  "-cp",
                  System.getProperty("java.class.path"),
                  DamagedStagingJob.class.getName(),
                  shared.toString(),
                  Integer.toString(JOBS))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      jobs.add(job);
      outputs.add(job.inputReader());
    }
    for (BufferedReader output : outputs) {
      assertThat(output.readLine()).isEqualTo("ready");
    }
    Path file = files().get(0);
    truncate(file, Math.min(length, Files.size(file) - 1));
    for (Process job : jobs) {
      job.getOutputStream().close();
    }
    for (BufferedReader output : outputs) {
      assertThat(output.readLine())
          .startsWith("given 0, next alone, said [The staging buffer was damaged")
          .endsWith("prepares all batches of this pipeline itself.]");
    }
    for (Process job : jobs) {
      assertThat(job.waitFor()).isZero();
    }
    assertThat(files()).isEmpty();
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(shared)) {
      return files.toList();
    }
  }

  private static void truncate(Path file, long length) throws IOException {
    try (RandomAccessFile other = new RandomAccessFile(file.toFile(), "rw")) {
      other.setLength(length);
    }
  }
}
