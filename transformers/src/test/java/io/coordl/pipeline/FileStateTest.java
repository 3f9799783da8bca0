package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
  @EnabledOnOs(OS.LINUX)
  void aDeviceGivesSomethingElseEachTime() {
    assertThat(FileState.of("/dev/urandom").isMissing()).isTrue();
  }
}
