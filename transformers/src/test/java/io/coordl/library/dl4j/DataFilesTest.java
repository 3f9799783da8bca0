package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.pipeline.Checksum;
import io.coordl.pipeline.LibraryEpoch;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** All jobs number the files of a data set alike, and detect another data set. */
class DataFilesTest {
  @TempDir Path directory;
  private File a;
  private File b;
  private File c;

  @BeforeEach
  void write() throws IOException {
    a = Files.writeString(directory.resolve("a.jpg"), "one").toFile();
    b = Files.writeString(directory.resolve("b.jpg"), "two").toFile();
    c = Files.writeString(directory.resolve("c.jpg"), "three").toFile();
  }

  @Test
  void numbersDependOnPathsNotOnOrder() {
    DataFiles files = new DataFiles(List.of(c, a, b));
    DataFiles others = new DataFiles(List.of(b, c, a));
    assertThat(files.numbersOf(List.of(b, c, a))).containsExactly(1, 2, 0);
    assertThat(others.numbersOf(List.of(b, c, a))).containsExactly(1, 2, 0);
    assertThat(others).hasToString(files.toString());
    assertThat(files.inOrderOf(new int[] {1, 2, 0})).containsExactly(b, c, a);
  }

  @Test
  void aFileMayOccurTwice() {
    DataFiles files = new DataFiles(List.of(b, a, b));
    assertThat(files.numbersOf(List.of(b, b, a))).containsExactly(1, 1, 0);
    assertThat(files.numbersOf(List.of(b, a, a))).isNull();
    assertThat(files).doesNotHaveToString(new DataFiles(List.of(a, b)).toString());
  }

  @Test
  void otherFilesHaveNoNumbers() {
    DataFiles files = new DataFiles(List.of(a, b));
    assertThat(files.numbersOf(List.of(a, c))).isNull();
    assertThat(files.numbersOf(List.of(a))).isNull();
    assertThat(files.numbersOf(List.of(a, b, c))).isNull();
    assertThat(files.inOrderOf(new int[] {0, 2})).isNull();
    assertThat(files.inOrderOf(new int[] {0, -1})).isNull();
    assertThat(files.inOrderOf(new int[] {0})).isNull();
    assertThat(files.inOrderOf(new int[] {0, 0})).isNull();
  }

  @Test
  void changedFileMakesAnotherDataSet() throws IOException {
    String before = new DataFiles(List.of(a, b)).toString();
    assertThat(before).startsWith("2 with checksum ");
    Files.writeString(b.toPath(), "longer");
    assertThat(new DataFiles(List.of(a, b))).doesNotHaveToString(before);
    Files.delete(b.toPath());
    assertThat(new DataFiles(List.of(a, b))).doesNotHaveToString(before);
  }

  @Test
  void fileOfSeveralRecordsIsReadAsAWhole() {
    DataFiles files = new DataFiles(List.of(c, a, b), file -> file.equals(b) ? 3 : 1);
    assertThat(files.numbersOf(List.of(b, c, a))).containsExactly(1, 2, 3, 4, 0);
    assertThat(files.inOrderOf(new int[] {4, 1, 2, 3, 0})).containsExactly(c, b, a);
    assertThat(files.inOrderOf(new int[] {1, 2, 4, 3, 0})).isNull();
    assertThat(files.inOrderOf(new int[] {1, 2, 3, 4})).isNull();
    assertThat(files.toString()).startsWith("5 in 3 files with checksum ");
  }

  @Test
  void batchIsIdentifiedByFilesAndPositions() {
    DataFiles files = new DataFiles(List.of(a, b, c));
    LibraryEpoch.Key known = identify(files, 0, 2, 1);
    assertThat(identify(new DataFiles(List.of(c, b, a)), 0, 2, 1)).isEqualTo(known);
    assertThat(files.identify(new int[] {1, 0, 2, 1}, 1, 4, LibraryEpoch.Key.NONE))
        .isEqualTo(known);
    assertThat(
            Stream.of(
                    known,
                    identify(files, 0, 1, 2),
                    identify(files, 0, 2),
                    identify(files, 0, 2, 1, 1),
                    files.identify(
                        new int[] {0, 2, 1}, 0, 3, new LibraryEpoch.Key(1, Checksum.NONE)))
                .distinct())
        .hasSize(5);
    DataFiles several = new DataFiles(List.of(a, b), file -> 3);
    assertThat(identify(several, 0, 1, 2)).isNotEqualTo(identify(several, 3, 4, 5));
    assertThat(identify(several, 0, 1)).isNotEqualTo(identify(several, 0, 2));
    assertThat(identify(several, 1, 3)).isNotEqualTo(identify(several, 1, 4));
  }

  private static LibraryEpoch.Key identify(DataFiles files, int... items) {
    return files.identify(items, 0, items.length, LibraryEpoch.Key.NONE);
  }

  /** After chmod, a hard link or a rename, the kept batch is compared with a new one. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void changeTimeChangesOnlyTheStampOfABatch() throws IOException {
    DataFiles files = new DataFiles(List.of(a, b));
    LibraryEpoch.Key before = identify(files, 0, 1);
    Path link = directory.resolve("link");
    do { // Until the clock of the file system has ticked.
      Files.deleteIfExists(link);
      Files.createLink(link, b.toPath());
    } while (identify(files, 0, 1).stamp() == before.stamp());
    assertThat(identify(files, 0, 1).checksum()).isEqualTo(before.checksum());
    assertThat(identify(files, 0)).isEqualTo(identify(new DataFiles(List.of(a)), 0));
  }

  @Test
  void changedFileMakesAnotherBatch() throws IOException {
    DataFiles files = new DataFiles(List.of(a, b));
    LibraryEpoch.Key ofA = identify(files, 0);
    LibraryEpoch.Key ofBoth = identify(files, 0, 1);
    Files.setLastModifiedTime(b.toPath(), FileTime.fromMillis(1));
    assertThat(identify(files, 0, 1)).isNotNull().isNotEqualTo(ofBoth);
    assertThat(identify(files, 0)).isEqualTo(ofA);
    assertThat(files.isUnchanged(a)).isTrue();
    assertThat(files.isUnchanged(b)).isFalse();
  }

  @Test
  void changedFileOfSeveralRecordsHasNoIdentity() throws IOException {
    DataFiles files = new DataFiles(List.of(a, b), file -> file.equals(b) ? 2 : 1);
    LibraryEpoch.Key ofA = identify(files, 0);
    assertThat(identify(files, 0, 1)).isNotNull();
    Files.setLastModifiedTime(b.toPath(), FileTime.fromMillis(1));
    assertThat(identify(files, 0, 1)).isNull();
    assertThat(identify(files, 0)).isEqualTo(ofA);
  }

  @Test
  void batchPathsAreThoseOfItsFiles() {
    DataFiles files = new DataFiles(List.of(a, b, c), file -> 2);
    Set<String> paths = new HashSet<>();
    files.addPaths(new int[] {5, 0, 1, 2}, 1, 4, paths);
    assertThat(paths).containsExactlyInAnyOrder(a.getAbsolutePath(), b.getAbsolutePath());
  }
}
