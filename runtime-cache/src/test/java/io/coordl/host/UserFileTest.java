package io.coordl.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** No file that the user names can block the start of a job forever. */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UserFileTest {
  @TempDir Path directory;

  @Test
  void onlyRegularFilesAreRead() throws Exception {
    Path file = Files.write(directory.resolve("file"), new byte[] {1, 2});
    Path link = Files.createSymbolicLink(directory.resolve("link"), file);
    assertThat(UserFile.read(link)).containsExactly(1, 2);
    assertThatThrownBy(() -> UserFile.read(directory.resolve("absent")))
        .isInstanceOf(NoSuchFileException.class);
    Path fifo = directory.resolve("fifo");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    for (Path other : List.of(fifo, directory, Path.of("/dev/zero"))) {
      assertThatThrownBy(() -> UserFile.read(other))
          .isInstanceOf(IOException.class)
          .hasMessage("it is not a regular file");
    }
  }

  @Test
  void hungStorageIsNotWaitedForForever() {
    CountDownLatch server = new CountDownLatch(1);
    StorageCall<Boolean> call = new StorageCall<>(() -> server.await(10, TimeUnit.MINUTES));
    assertThatThrownBy(() -> call.get(Duration.ofMillis(1)))
        .isInstanceOf(IOException.class)
        .hasMessage("storage has not answered for 0 s");
    server.countDown();
  }
}
