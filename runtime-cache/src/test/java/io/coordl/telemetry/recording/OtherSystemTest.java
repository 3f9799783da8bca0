package io.coordl.telemetry.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import io.coordl.Waits;
import io.coordl.telemetry.live.Owner;
import io.coordl.telemetry.live.StatusFile;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests status files on a Windows-like file system, with backslashes and without numeric user IDs
 * or POSIX permissions, and on this machine's file system.
 */
class OtherSystemTest {
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
  void aJobsStatusFileIsRemovedAtItsEnd(@TempDir Path own) throws Exception {
    AgentLog log = new AgentLog();
    JobMonitor job = new JobMonitor(List.of(), "main", log, new RewriteLog());
    try (Status status = new Status(job.figures(), () -> own)) {
      status.start();
      long end = System.nanoTime() + Waits.LONG.toNanos();
      while (StatusFile.all(own).isEmpty()) {
        assertThat(System.nanoTime()).isLessThan(end);
        Thread.sleep(10);
      }
    }
    try (Stream<Path> files = Files.list(own)) {
      assertThat(files).isEmpty();
    }
  }

  /** A job's use of its status file, except writing, which needs a real file system. */
  @Test
  void aStatusFileIsCreatedAndFound() throws IOException {
    StatusFile file = StatusFile.of(folder, 17, 1_700_000_000_000L);

    Files.createFile(file.unfinished(), Status.attributes(file.unfinished()));
    Files.move(file.unfinished(), file.path(), StandardCopyOption.ATOMIC_MOVE);

    assertThat(StatusFile.all(folder)).containsExactly(file);
  }

  @Test
  void anOldStatusFileIsRemoved() throws IOException {
    StatusFile left = StatusFile.of(folder, 17, 1);
    StatusFile running = StatusFile.of(folder, 18, 2);
    Files.createFile(left.unfinished());
    Files.createFile(left.path());
    Files.createFile(running.path());
    FileTime longAgo = FileTime.from(Instant.now().minus(Duration.ofHours(2)));
    Files.setLastModifiedTime(left.unfinished(), longAgo);
    Files.setLastModifiedTime(left.path(), longAgo);

    StatusFile.sweep(folder);

    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactly(running.path());
    }
  }

  @Test
  void filesWithoutANumericUserIdAreReported() throws IOException {
    Path file = Files.createFile(folder.resolve("file"));

    assertThatThrownBy(() -> Owner.of(file))
        .isInstanceOf(IOException.class)
        .hasMessage("this system has no numeric user IDs");
  }

  @Test
  void theUserOwnsNewFiles(@TempDir Path own) throws IOException {
    assertThat(Owner.of(Files.createFile(own.resolve("file")))).isEqualTo(Owner.user());
  }
}
