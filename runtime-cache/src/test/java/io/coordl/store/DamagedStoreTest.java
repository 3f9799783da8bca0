package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.host.Machine;
import io.coordl.host.SharedFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Another program of the same user truncates the file of a live store: reads fall back to storage.
 */
@Tag("slow")
class DamagedStoreTest {
  @TempDir Path data;
  @TempDir Path shared;
  private final List<Process> jobs = new ArrayList<>();

  @AfterEach
  void endJobs() {
    jobs.forEach(Process::destroyForcibly);
  }

  private Process job(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=/dev/null", "-Xmx64m"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    Process job = builder.start();
    jobs.add(job);
    return job;
  }

  /** Truncates at each access in turn, in interpreted and in compiled code. */
  @ParameterizedTest
  @CsvSource({"-Xint,0", "-Xint,40960", "-Xmixed,0", "-Xmixed,40960"})
  void aJobSurvivesATruncationAtAnyAccess(String mode, long length) throws Exception {
    Process job =
        job(mode, DamagedStoreJob.class.getName(), "steps", shared.toString(), "" + length);
    assertThat(job.inputReader().readLine()).matches("steps \\d{2,}");
    assertThat(job.waitFor()).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 4096, 200_000})
  void jobsOfATruncatedStoreReadStorageAndEnd(long length) throws Exception {
    for (int i = 0; i < DamagedStoreJob.FILES; i++) {
      Items.file(data, "item" + i, DamagedStoreJob.LENGTH);
    }
    List<BufferedReader> outputs = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Process job = job(DamagedStoreJob.class.getName(), "job", shared.toString(), data.toString());
      outputs.add(job.inputReader());
    }
    for (BufferedReader output : outputs) {
      assertThat(output.readLine()).isEqualTo("ready");
    }
    Path store = SharedFile.path(shared, Machine.user(), DamagedStoreJob.GROUP, ArenaContents.HERE);
    truncate(store, length);
    for (Process job : jobs) {
      job.getOutputStream().close();
    }
    for (BufferedReader output : outputs) {
      assertThat(output.readLine()).isEqualTo("read all, logged 1");
    }
    for (Process job : jobs) {
      assertThat(job.waitFor()).isZero();
    }
    assertThat(store).doesNotExist();
  }

  @Test
  void aFileTruncatedAndExtendedAgainServesNothing() throws IOException {
    List<String> logged = new ArrayList<>();
    try (ArenaStore store = Items.openHost(shared, "group", () -> 2 << 20, logged::add)) {
      store.fetch(Items.key(1), Items.length(1), Items.loader(1));
      for (int at = 0; at < ArenaDescriptor.HEADER_BYTES; at += 8) {
        store.memory.set(at, 0);
      }
      Fetched fetched = store.fetch(Items.key(2), Items.length(2), Items.loader(2));
      assertThat(fetched.outcome()).isEqualTo(Outcome.FULL);
      assertThat(logged).singleElement().asString().contains("damaged");
    }
  }

  private static void truncate(Path file, long length) throws IOException {
    assertThat(Files.size(file)).isGreaterThan(length);
    try (RandomAccessFile other = new RandomAccessFile(file.toFile(), "rw")) {
      other.setLength(length);
    }
  }
}
