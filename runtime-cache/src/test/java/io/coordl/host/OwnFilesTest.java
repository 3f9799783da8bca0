package io.coordl.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** An open that waited for another process would block its test until the timeout. */
@Timeout(600)
class OwnFilesTest {
  @TempDir Path folder;

  private static Closeable open(String way, Path path) throws IOException {
    return switch (way) {
      case "create" -> OwnFiles.create(path);
      case "open" -> OwnFiles.open(path);
      default -> OwnFiles.openOrCreate(path);
    };
  }

  static Stream<Arguments> ways() {
    return Stream.of("create", "open", "open or create")
        .flatMap(
            way ->
                Stream.of("link", "link to nothing", "fifo", "directory", "another's")
                    .map(what -> Arguments.of(way, what)));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("ways")
  void onlyTheUsersOwnRegularFilesAreOpened(String way, String what) throws Exception {
    Path victim = Files.writeString(folder.resolve("victim"), "precious");
    Path path = folder.resolve("file");
    switch (what) {
      case "link" -> Files.createSymbolicLink(path, victim);
      case "link to nothing" -> Files.createSymbolicLink(path, folder.resolve("nothing"));
      case "fifo" -> assertThat(new ProcessBuilder("mkfifo", path + "").start().waitFor()).isZero();
      case "directory" -> Files.createDirectory(path);
      default -> {
        assumeTrue(Machine.user() == 0, "only root can give a file to another user");
        Files.writeString(path, "precious");
        Files.setAttribute(path, "unix:uid", 12345);
      }
    }
    assertThatThrownBy(() -> open(way, path).close()).isInstanceOf(IOException.class);
    assertThat(victim).hasContent("precious");
    assertThat(folder.resolve("nothing")).doesNotExist();
    assertThat(Files.exists(path, LinkOption.NOFOLLOW_LINKS)).isTrue();
  }

  @Test
  void aFileIsCreatedOnceAndKeepsItsContent() throws IOException {
    Path path = folder.resolve("file");
    assertThatThrownBy(() -> OwnFiles.open(path)).isInstanceOf(IOException.class);
    try (RandomAccessFile created = OwnFiles.create(path)) {
      created.write(7);
    }
    assertThatThrownBy(() -> OwnFiles.create(path)).isInstanceOf(IOException.class);
    try (RandomAccessFile opened = OwnFiles.open(path);
        FileChannel channel = OwnFiles.openOrCreate(path)) {
      assertThat(opened.read()).isEqualTo(7);
      assertThat(channel.size()).isEqualTo(1);
    }
    OwnFiles.openOrCreate(folder.resolve("other")).close();
    assertThat(folder.resolve("other")).isEmptyFile();
  }

  @Test
  void aLinkToADirectoryIsNotAcceptedAsADirectory() throws IOException {
    Path created = OwnFiles.directory(folder.resolve("a/b"));
    assertThat(OwnFiles.directory(created)).isDirectory();
    Path link = Files.createSymbolicLink(folder.resolve("link"), created);
    assertThatThrownBy(() -> OwnFiles.directory(link)).hasMessageContaining("a link to one");
    Path file = Files.createFile(folder.resolve("file"));
    assertThatThrownBy(() -> OwnFiles.directory(file)).hasMessageContaining("not a directory");
  }

  @Test
  void othersLinksAreNotFollowed() throws IOException {
    Path created = Files.createDirectory(folder.resolve("made"));
    Path link = Files.createSymbolicLink(folder.resolve("link"), created);
    OwnFiles.requireOwnLinks(link.resolve("file"));
    assumeTrue(Machine.user() == 0, "only root can give a link to another user");
    Files.setAttribute(link, "unix:uid", 12345, LinkOption.NOFOLLOW_LINKS);
    assertThatThrownBy(() -> OwnFiles.requireOwnLinks(link.resolve("file")))
        .hasMessageContaining("symbolic link of another user");
  }
}
