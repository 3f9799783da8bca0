package io.coordl.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import io.coordl.live.Owner;
import io.coordl.live.StatusFile;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file system without users, modes and slashes, as that of Windows. */
class OtherSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final FileSystem windows = Jimfs.newFileSystem(Configuration.windows());
  private Path folder;

  @BeforeEach
  void makeFolder() throws IOException {
    folder = Files.createDirectory(windows.getPath("C:\\Temp"));
  }

  @AfterEach
  void close() throws IOException {
    windows.close();
  }

  @Test
  void aJobShowsItselfAndRemovesWhatItWrote() throws Exception {
    AgentLog log = new AgentLog();
    JobMonitor job = new JobMonitor(List.of(), "main", log, new RewriteLog());
    try (Status status = new Status(job, () -> folder)) {
      status.start();
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (StatusFile.all(folder).isEmpty()) {
        assertThat(System.nanoTime()).isLessThan(end);
        Thread.sleep(10);
      }
    }
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).isEmpty();
    }
  }

  @Test
  void nobodyOwnsAFile() throws IOException {
    Path file = Files.createFile(folder.resolve("file"));

    assertThatThrownBy(() -> Owner.of(file))
        .isInstanceOf(IOException.class)
        .hasMessage("this system has no numbers for users");
  }

  @Test
  void theUserOwnsTheFilesItMakes(@TempDir Path own) throws IOException {
    assertThat(Owner.of(Files.createFile(own.resolve("file")))).isEqualTo(Owner.user());
  }
}
