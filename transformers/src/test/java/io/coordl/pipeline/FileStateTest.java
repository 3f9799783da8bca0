package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What can be compared with what it was, and what cannot. */
class FileStateTest {
  @Test
  void onlyFilesHaveAState(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("a"), "text");
    assertThat(FileState.of(file.toString())).isEqualTo(FileState.of(file.toString()));
    assertThat(FileState.of(file.toString()).size()).isEqualTo(4);
    assertThat(FileState.basic(file).size()).isEqualTo(4);
    assertThat(FileState.of(folder.toString()).isMissing()).isTrue();
    assertThat(FileState.basic(folder).isMissing()).isTrue();
    assertThat(FileState.of("\0").isMissing()).isTrue();
  }

  @Test
  void whatHasJustChangedMayChangeAgainUnseen() {
    long now = System.currentTimeMillis() * 1_000_000 + 1;
    long hour = TimeUnit.HOURS.toNanos(1);
    for (String identity : List.of("(dev=1,ino=2) ", "")) { // Where nothing tells: by its own time.
      assertThat(changed(identity, now - hour).isSettled()).isTrue();
      assertThat(changed(identity, now + hour).isSettled()).isFalse();
      assertThat(changed(identity, now / 1_000_000_000 * 1_000_000_000).isSettled()).isFalse();
    }
    assertThat(new FileState(0, 0, "0").isSettled()).isFalse();
  }

  private static FileState changed(String identity, long nanos) {
    return identity.isEmpty()
        ? new FileState(4, nanos, "0")
        : new FileState(4, 0, identity + nanos);
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void aDeviceGivesSomethingElseEachTime() {
    assertThat(FileState.of("/dev/urandom").isMissing()).isTrue();
  }
}
