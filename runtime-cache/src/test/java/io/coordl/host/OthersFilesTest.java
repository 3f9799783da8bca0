package io.coordl.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** In a world-writable directory, any object may have the name of one of our files. */
final class OthersFilesTest {
  @TempDir Path directory;

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aForeignFileBlocksNobody() throws Exception {
    Path fifo = directory.resolve("coordl-0-fifo.staging");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    Files.createDirectory(directory.resolve("coordl-0-directory.staging"));
    Files.createSymbolicLink(
        directory.resolve("coordl-0-link.staging"),
        Files.writeString(directory.resolve("elsewhere"), "content of another"));

    assertThat(SharedFile.othersInUse(directory, "coordl-0-*.staging", 8)).isEmpty();
  }
}
