package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.bridge.EarlyFileError;
import io.coordl.bridge.Producers;
import io.coordl.items.FileState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares recorded and current states of files. */
class OpenedFilesTest {
  @TempDir Path directory;

  private static BatchLayout of(Path file, FileState state) {
    return new BatchLayout(
        List.of(new BatchLayout.Array(OpenedFiles.ROLE, "", file.toString(), state.numbers(), 0)));
  }

  /** A sample is confirmed for its files as they were read, even if they have changed since. */
  @Test
  void onlyTheFilesThatWereReadAreConfirmed() throws IOException {
    Path file = Files.writeString(directory.resolve("item"), "it");
    FileState now = FileState.of(file);
    BatchLayout kept = of(file, changedAt(now, 1));
    Long current = OpenedFiles.changes(kept, 0, path -> {});
    assertThat(current).isNotNull().isNotZero();
    assertThat(OpenedFiles.changes(kept, of(file, now))).isEqualTo(current);
    assertThat(OpenedFiles.changes(kept, of(file, changedAt(now, 2)))).isNotEqualTo(current);
    assertThat(OpenedFiles.changes(kept, kept)).isZero();
  }

  @Test
  void onlyRegularFilesAreReadEarly() throws IOException, InterruptedException {
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    for (String path :
        List.of(
            pipe.toString(),
            "/proc/self/stat",
            "/dev/urandom",
            Producers.UNKNOWN,
            "no such file")) {
      OpenedFiles files = new OpenedFiles();
      assertThatThrownBy(() -> files.openEarly(path)).isInstanceOf(EarlyFileError.class);
      assertThat(files.areUnchanged()).as(path).isFalse();
    }
  }

  @Test
  void aFileThatHasJustChangedMayChangeAgainUnnoticed() {
    FileState settled = new FileState(1, 5, 5, 1, 1);
    FileState unsettled = changedAt(settled, Long.MAX_VALUE / 2);
    FileState empty = new FileState(0, 5, 5, 1, 1);
    assertThat(unchangedAfterEarlyOpen(settled)).isTrue();
    assertThat(unchangedAfterEarlyOpen(unsettled)).isFalse();
    assertThat(unchangedAfterEarlyOpen(empty)).isTrue();
  }

  private static boolean unchangedAfterEarlyOpen(FileState state) {
    OpenedFiles files = new OpenedFiles(path -> state);
    files.openEarly("file");
    return files.areUnchanged();
  }

  private static FileState changedAt(FileState state, long nanos) {
    return new FileState(state.size(), state.modifiedNanos(), nanos, state.device(), state.inode());
  }
}
