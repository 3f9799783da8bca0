package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.FileReads;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.OpenItem;
import io.coordl.bridge.SpanSink;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** File names that are not valid text. Once decoded, such a name may equal another file's name. */
@EnabledOnOs(OS.LINUX)
class StrangeNamesTest {
  /** One in Latin-1, and one with the replacement character. */
  private static final List<String> NAMES = List.of("caf\\351.txt", "caf\\357\\277\\275.txt");

  @TempDir Path directory;
  @TempDir Path arena;
  private ArenaStore store;

  @BeforeEach
  void write() throws IOException, InterruptedException {
    for (String name : NAMES) {
      String command = "printf 'content of %s' " + name.length() + " >\"$(printf '" + name + "')\"";
      Process shell =
          new ProcessBuilder("bash", "-c", command).directory(directory.toFile()).start();
      assertThat(shell.waitFor()).isZero();
    }
    store = ArenaStore.openProcess(arena, ByteBudget.parse("8m"), line -> {});
  }

  @AfterEach
  void close() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    store.close();
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      return all.sorted().toList();
    }
  }

  private interface Read {
    byte[] of(Path path) throws IOException;
  }

  private static byte[] channel(SeekableByteChannel opened) throws IOException {
    try (opened) {
      ByteBuffer bytes = ByteBuffer.allocate((int) opened.size());
      assertThat(opened.read(bytes)).isEqualTo(bytes.capacity());
      return bytes.array();
    }
  }

  private static byte[] stream(InputStream opened) throws IOException {
    try (opened) {
      return opened.readAllBytes();
    }
  }

  @Test
  void eachPathIsReadAsItself() throws IOException {
    Bridge.install(SpanSink.NONE, new MinioCache(store, path -> true), FaultListener.NONE);
    assertThat(files()).hasSize(2);
    List<Read> calls =
        List.of(
            FileReads::readAllBytes,
            path -> stream(FileReads.newInputStream(path)),
            path -> channel(FileReads.open(path)),
            path -> channel(FileReads.newByteChannel(path)),
            path -> FileReads.readString(path).getBytes(StandardCharsets.UTF_8));
    for (Read call : calls) {
      for (int epoch = 0; epoch < 2; epoch++) {
        for (Path file : files()) {
          assertThat(call.of(file)).isEqualTo(Files.readAllBytes(file));
        }
      }
    }
  }

  @Test
  void atMostOneOfTheFilesHasATextName() throws IOException {
    long named = files().stream().filter(file -> OpenItem.textOf(file) != null).count();
    assertThat(named).isLessThanOrEqualTo(1);
    assertThat(OpenItem.textOf(Path.of("/data/plain"))).isEqualTo("/data/plain");
  }

  @Test
  void aUrlOfAFileWithAStrangeNameBehavesLikeThePlainCall() throws IOException {
    Bridge.install(SpanSink.NONE, new MinioCache(null, path -> true), FaultListener.NONE);
    for (String escaped : List.of("caf%E9.txt", "caf%EF%BF%BD.txt")) {
      URL url = new URL("file:" + directory + "/" + escaped);
      Throwable[] plain = {null};
      byte[] expected = {};
      try {
        expected = stream(url.openStream());
      } catch (IOException | RuntimeException e) {
        plain[0] = e;
      }
      byte[][] found = {{}};
      Throwable thrown = catchThrowable(() -> found[0] = stream(FileReads.openStream(url)));
      assertThat(found[0]).isEqualTo(expected);
      assertThat(thrown == null ? null : thrown.getClass())
          .isEqualTo(plain[0] == null ? null : plain[0].getClass());
    }
  }
}
