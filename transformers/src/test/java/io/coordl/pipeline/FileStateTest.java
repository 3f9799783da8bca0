package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
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
    assertThat(FileState.of(folder.toString()).size()).isNegative();
    assertThat(FileState.basic(folder).size()).isNegative();
    assertThat(FileState.of("\0").size()).isNegative();
  }

  @Test
  void whatHasJustChangedMayChangeAgainUnseen() {
    long now = System.currentTimeMillis() * 1_000_000 + 1;
    long hour = TimeUnit.HOURS.toNanos(1);
    assertThat(changed(now - hour).isSettled()).isTrue();
    assertThat(changed(now + hour).isSettled()).isFalse();
    assertThat(changed(now / 1_000_000_000 * 1_000_000_000).isSettled()).isFalse();
    assertThat(new FileState(0, 0, 0, 0, 0).isSettled()).isFalse();
  }

  private static FileState changed(long nanos) {
    return new FileState(4, 0, nanos, 1, 2);
  }

  @Test
  void whereNothingTellsAFileIsSettledByItsOwnTime(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("a"), "text");
    for (FileTime time : List.of(FileTime.fromMillis(1_001), FileTime.fromMillis(2_002))) {
      Files.setLastModifiedTime(file, time);
      assertThat(FileState.basic(file).isSettled()).isTrue();
      assertThat(FileState.basic(file).modifiedNanos()).isEqualTo(time.to(TimeUnit.NANOSECONDS));
    }
    Files.setLastModifiedTime(file, FileTime.fromMillis(System.currentTimeMillis() + 3_600_000));
    assertThat(FileState.basic(file).isSettled()).isFalse();
  }

  /** Size and time can be set to what they were; the rest tells a file that was written again. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void eachChangeShows(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("a"), "text");
    FileTime time = FileTime.fromMillis(1_001);
    Files.setLastModifiedTime(file, time);
    FileState before = settled(file);
    assertThat(before.modifiedNanos()).isEqualTo(1_001_000_000L);

    Files.setLastModifiedTime(file, FileTime.fromMillis(1_002));
    differs(FileState.of(file.toString()), before);

    Files.setLastModifiedTime(file, time);
    FileState touched = settled(file);
    differs(touched, before);
    assertThat(touched).usingRecursiveComparison().ignoringFields("changedNanos").isEqualTo(before);

    Path other = Files.writeString(folder.resolve("b"), "text");
    Files.setLastModifiedTime(other, time);
    Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
    assertThat(FileState.of(file.toString()).inode()).isNotEqualTo(before.inode());
    differs(FileState.of(file.toString()), touched);

    Files.writeString(file, "texts");
    assertThat(FileState.of(file.toString()).size()).isEqualTo(5);
  }

  /** In all that is compared or kept. */
  private static void differs(FileState now, FileState before) {
    assertThat(now).isNotEqualTo(before);
    assertThat(now.checksum()).isNotEqualTo(before.checksum());
    assertThat(now.numbers()).isNotEqualTo(before.numbers());
  }

  private static FileState settled(Path file) {
    FileState now = FileState.of(file.toString());
    while (!now.isSettled()) {
      Thread.onSpinWait();
    }
    return now;
  }

  @Test
  void eachNumberCounts() {
    FileState one = new FileState(4, 5, 6, 7, 8);
    assertThat(new FileState(4, 5, 6, 7, 8).checksum()).isEqualTo(one.checksum());
    for (FileState other :
        List.of(
            new FileState(5, 5, 6, 7, 8),
            new FileState(4, 6, 6, 7, 8),
            new FileState(4, 5, 7, 7, 8),
            new FileState(4, 5, 6, 8, 8),
            new FileState(4, 5, 6, 7, 9),
            new FileState(5, 4, 6, 7, 8))) {
      differs(other, one);
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void aDeviceGivesSomethingElseEachTime() {
    assertThat(FileState.of("/dev/urandom").size()).isNegative();
  }
}
