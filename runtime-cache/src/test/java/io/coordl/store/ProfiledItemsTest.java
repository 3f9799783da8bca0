package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import io.coordl.items.ItemFilter;
import io.coordl.items.ItemNames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A profile determines the source of items; their bytes are always the same. */
class ProfiledItemsTest {
  @TempDir Path directory;

  private ProfiledItems items;

  @BeforeEach
  void open() {
    items = new ProfiledItems(ItemFilter.inferred(() -> true, ItemNames.HERE), line -> {});
  }

  @AfterEach
  void close() {
    items.close();
  }

  private Path file(String name, int length) throws IOException {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.write(file, bytes);
  }

  private static byte[] bytes(OpenItem item) {
    ByteBuffer content = item.content();
    assertThat(content).isNotNull();
    byte[] bytes = new byte[content.remaining()];
    content.get(bytes);
    return bytes;
  }

  @ParameterizedTest
  @ValueSource(
      ints = {1, 511, 512, 4_096, 4_097, 100_000, (2 << 20) - 1, 2 << 20, (2 << 20) + 5_000})
  void storageReturnsTheFilesBytesAtAnyLength(int length) throws IOException {
    Path file = file("a/1.bin", length);
    items.from(ProfiledItems.From.STORAGE);

    OpenItem item = items.open(file.toString());

    assertThat(bytes(item)).isEqualTo(Files.readAllBytes(file));
    assertThat(item.origin()).isEqualTo(Origin.STORAGE);
    assertThat(items.access()).isNotEmpty();
  }

  @Test
  void memoryKeepsItemsAndReportsTheirOrigin() throws IOException {
    Path file = file("a/1.bin", 10_000);
    assertThat(items.openStore(ByteBudget.parse("16m"))).isPositive();
    items.from(ProfiledItems.From.MEMORY);

    OpenItem first = items.open(file.toString());
    OpenItem second = items.open(file.toString());

    assertThat(first.origin()).isEqualTo(Origin.STORAGE);
    assertThat(second.origin()).isEqualTo(Origin.MEMORY);
    assertThat(bytes(second)).isEqualTo(Files.readAllBytes(file));
  }

  @Test
  void filesOfTheSameKindInSiblingDirectoriesBelongToTheDataSet() throws IOException {
    file("train/a/3.bin", 30);
    file("train/c/4.bin", 40);
    file("train/c/readme.txt", 50);
    items.open(file("train/a/1.bin", 10).toString());
    items.open(file("train/b/2.bin", 20).toString());

    ProfiledItems.Listing listing = items.listed();

    assertThat(listing.items()).hasSize(4);
    assertThat(listing.bytes()).isEqualTo(100);
    assertThat(listing.whole()).isTrue();
  }

  @Test
  void aWholeFileSystemIsNeverScanned() throws IOException {
    Path zip = directory.resolve("root.zip");
    try (FileSystem archive = FileSystems.newFileSystem(zip, java.util.Map.of("create", "true"))) {
      for (String name : List.of("train", "val", "other")) {
        Files.createDirectory(archive.getPath("/" + name));
        Files.write(archive.getPath("/" + name + "/1.bin"), new byte[] {1});
      }
      items.openForeign(archive.getPath("/train/1.bin"));
      items.openForeign(archive.getPath("/val/1.bin"));

      assertThat(items.listed().items()).hasSize(2);
    }
  }

  @Test
  void preloadedItemsComeFromMemory() throws IOException {
    Path seen = file("a/1.bin", 10);
    Path other = file("a/2.bin", 20);
    items.open(seen.toString());
    items.openStore(ByteBudget.parse("16m"));
    for (ProfiledItems.Item item : items.listed().items()) {
      assertThat(item.keep()).isTrue();
    }
    items.from(ProfiledItems.From.MEMORY);

    assertThat(items.open(other.toString()).origin()).isEqualTo(Origin.MEMORY);
  }

  @Test
  void anItemThatAFullStoreDidNotAdmitIsNotKept() throws IOException {
    for (int i = 1; i <= 4; i++) {
      items.open(file("a/" + i + ".bin", (1 << 20) + i).toString());
    }
    items.openStore(ByteBudget.parse("2m"));

    int kept = 0;
    for (ProfiledItems.Item item : items.listed().items()) {
      boolean isKept = item.keep();
      kept += isKept ? 1 : 0;
      assertThat(item.copyKept(new byte[2 << 20]) > 0).isEqualTo(isKept);
    }

    assertThat(kept).isBetween(1, 3);
  }

  @Test
  void filesOfOtherFileSystemsAreReadTheWayTheProgramReadsThem() throws IOException {
    Path zip = directory.resolve("data.zip");
    try (FileSystem archive = FileSystems.newFileSystem(zip, java.util.Map.of("create", "true"))) {
      Path inside = archive.getPath("/1.bin");
      Files.write(inside, new byte[] {1, 2, 3});
      items.from(ProfiledItems.From.STORAGE);

      assertThat(bytes(items.openForeign(inside))).containsExactly(1, 2, 3);
      assertThat(items.access()).isEqualTo("as the program reads them: another file system");
      assertThat(items.listed().items()).hasSize(1);
    }
  }

  @Test
  void inMemoryFileSystemsAreReportedAsNotStorage() throws IOException {
    Path shared = Path.of("/dev/shm");
    org.junit.jupiter.api.Assumptions.assumeTrue(
        Files.isWritable(shared), "/dev/shm is not writable");
    Path own = Files.createTempDirectory(shared, "profiled-items-test");
    Path file = Files.write(own.resolve("1.bin"), new byte[100]);
    try {
      items.from(ProfiledItems.From.STORAGE);

      assertThat(bytes(items.open(file.toString()))).hasSize(100);
      assertThat(items.access()).isEqualTo("not direct: " + own + " is in memory (tmpfs)");
    } finally {
      Files.delete(file);
      Files.delete(own);
    }
  }

  @Test
  void theProgramItselfReadsLargeAndEmptyFiles() throws IOException {
    Path empty = file("a/0.bin", 0);
    items.from(ProfiledItems.From.STORAGE);

    assertThat(items.open(empty.toString()).served()).isFalse();
    assertThat(items.access()).isEmpty();

    Path large = file("a/1.bin", (8 << 20) + 1);

    assertThat(items.open(large.toString()).served()).isFalse();
    assertThat(items.access()).isEqualTo("files larger than 8 MiB as the program reads them");
    items.open(file("a/2.bin", 100).toString());
    assertThat(items.access())
        .containsPattern("direct.*; files larger than 8 MiB as the program reads them")
        .isNotEqualTo("direct");
  }
}
