package io.coordl.items;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks which files can be compared with an earlier state. */
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
  void aFileChangedJustNowIsNotSettled() {
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
  void basicAttributesAreSettledByTheModificationTime(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("a"), "text");
    for (FileTime time : List.of(FileTime.fromMillis(1_001), FileTime.fromMillis(2_002))) {
      Files.setLastModifiedTime(file, time);
      assertThat(FileState.basic(file).isSettled()).isTrue();
      assertThat(FileState.basic(file).modifiedNanos()).isEqualTo(time.to(TimeUnit.NANOSECONDS));
    }
    Files.setLastModifiedTime(file, FileTime.fromMillis(System.currentTimeMillis() + 3_600_000));
    assertThat(FileState.basic(file).isSettled()).isFalse();
  }

  /** Size and time can be restored; the other fields reveal a rewritten file. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void everyChangeIsDetected(@TempDir Path folder) throws IOException {
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

  /** Asserts that two states are unequal and have different checksums. */
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
  void everyFieldCounts() {
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
  void aDeviceIsNotAFile() {
    assertThat(FileState.of("/dev/urandom").size()).isNegative();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void internalJdkCallsMatchThePublicAttributes(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("a"), "text");
    Files.setLastModifiedTime(file, FileTime.fromMillis(-1_500));
    assertThat(FileState.canStatDescriptors()).as("the packages are open to tests").isTrue();
    for (Path path : List.of(file, folder, folder.resolve("missing"), Path.of("/dev/null"))) {
      assertThat(FileState.of(path)).as(path.toString()).isEqualTo(FileState.viewed(path));
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void anOpenFileIsDistinguishedFromItsReplacement(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("a"), "text");
    FileState before = FileState.of(file);
    try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "r")) {
      assertThat(FileState.of(opened.getFD(), file.toString())).isEqualTo(before);
      Files.delete(file);
      Files.writeString(file, "other");
      FileState gone = FileState.of(opened.getFD(), file.toString());
      assertThat(gone.inode()).isEqualTo(before.inode());
      assertThat(gone.size()).isEqualTo(4);
    }
  }

  /** A file that has attributes but cannot be opened shows whether open was called. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void aFileOnAServerIsOpenedBeforeItsAttributesAreTrusted(@TempDir Path folder)
      throws IOException {
    Path closed = Path.of("/proc/sys/vm/compact_memory");
    boolean isClosed = Files.isRegularFile(closed) && !Files.isReadable(closed);
    if (!isClosed) {
      System.out.println("skipped: no file that may only be written, such as " + closed);
    }
    Assumptions.assumeTrue(isClosed);
    FileState state = FileState.of(closed);
    assertThat(state.isFile()).isTrue();
    long device = state.device();
    String mounted =
        "1 1 " + (device >> 8) + ":" + (device & 0xff) + " / /data rw - %s server rw\n";
    Path table = folder.resolve("mounts");
    Files.writeString(table, String.format(mounted, "ext4"));
    assertThat(FileState.of(closed, new Mounts(table))).isEqualTo(state);
    Files.writeString(table, String.format(mounted, "nfs4"));
    assertThat(FileState.of(closed, new Mounts(table)).isFile()).isFalse();
    Path readable = Path.of("/proc/sys/vm/swappiness");
    assertThat(FileState.of(readable, new Mounts(table)).isFile()).isTrue();
  }

  @Test
  void mountsAreKnownByTheirType(@TempDir Path folder) throws IOException {
    Path table = folder.resolve("mounts");
    Files.writeString(
        table,
        """
        22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
        30 22 0:45 / /data\\040set rw,relatime shared:9 master:2 - fuse.sshfs host:/x rw
        31 22 0:46 / /more rw - nfs4 server:/y rw
        """);
    Mounts mounts = new Mounts(table);
    assertThat(mounts.typeOf(254 << 8)).isEqualTo("ext4");
    assertThat(mounts.typeOf(45)).isEqualTo("fuse.sshfs");
    assertThat(mounts.typeOf(99)).isEmpty();
    assertThat(mounts.isNetwork(46)).isTrue();
    assertThat(mounts.isNetwork(45)).isFalse();
    assertThat(mounts.hasStableInodes(46)).isTrue();
    assertThat(mounts.hasStableInodes(45)).isFalse();
    assertThat(mounts.isOf(Set.of("fuse"), 45)).isTrue();
    assertThat(mounts.isOf(Set.of("fuse.sshfs", "nfs4"), 46)).isTrue();
    assertThat(mounts.isOf(Set.of("fuse"), 46)).isFalse();
    assertThat(ItemNames.HERE.on(mounts).without(Set.of("nfs4")).skips(on(46))).isTrue();
  }

  private static FileState on(long device) {
    return new FileState(1, 0, 0, device, 1);
  }

  /**
   * A file-system image has the change times of its build; some FUSE clients report the
   * modification time instead.
   */
  @ParameterizedTest
  @ValueSource(strings = {"squashfs", "fuse.rclone"})
  void filesWithoutARealChangeTimeAreNotCached(String type, @TempDir Path folder)
      throws IOException {
    Path table = folder.resolve("mounts");
    Files.writeString(table, "30 22 7:0 / /data ro,relatime - " + type + " /dev/loop0 ro\n");
    List<String> logged = new ArrayList<>();
    ItemNames names = ItemNames.here(logged::add).on(new Mounts(table));
    assertThat(names.skips(on(7 << 8))).isTrue();
    assertThat(names.skips(on(7 << 8))).isTrue();
    assertThat(names.skips(on(45))).isFalse();
    assertThat(logged).singleElement().asString().contains(type, "dataset.identity=copy");
    assertThat(names.copies().skips(on(7 << 8))).isFalse();
  }

  /** The inode number differs but the change time does not: the file was not replaced. */
  @Test
  void ifInodesAreUnstableThePathIdentifiesAFile(@TempDir Path folder) throws IOException {
    List<String> logged = new ArrayList<>();
    Path table = folder.resolve("mounts");
    Files.writeString(table, "30 22 0:45 / /data rw - fuse.strange x rw\n");
    FileState one = new FileState(4, 5, 6, 45, 7);
    FileState other = new FileState(4, 5, 6, 45, 8);
    ItemNames names = ItemNames.here(logged::add).on(new Mounts(table));
    assertThat(names.of("/data/a", one)).isNull();
    assertThat(names.detectsRenumberedInode("/data/a", one, new FileState(4, 5, 7, 45, 8)))
        .isFalse();
    assertThat(names.of("/data/a", one)).isNull();
    assertThat(names.detectsRenumberedInode("/data/a", one, other)).isTrue();
    assertThat(names.of("/data/a", one))
        .isEqualTo(new ItemName("/data/a", 5, false, true, null))
        .isEqualTo(names.of("/data/a", other));
    names.detectsRenumberedInode("/data/a", other, one);
    assertThat(logged)
        .singleElement()
        .asString()
        .contains("The inode number of")
        .contains("fuse.strange");

    Files.writeString(table, "30 22 0:45 / /data rw - ext4 x rw\n");
    assertThat(ItemNames.HERE.on(new Mounts(table)).detectsRenumberedInode("/data/a", one, other))
        .isFalse();
  }
}
