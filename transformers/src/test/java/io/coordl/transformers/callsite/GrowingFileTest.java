package io.coordl.transformers.callsite;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.FileReads;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A program that follows a growing file, such as a log, sees it grow although it is cached. */
final class GrowingFileTest {
  @TempDir Path directory;

  @AfterEach
  void uninstall() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
  }

  private Path file(FakeItems.Mode mode) throws Exception {
    Bridge.install(SpanSink.NONE, new FakeItems(mode), FaultListener.NONE);
    return Files.writeString(directory.resolve("log"), "start");
  }

  @ParameterizedTest
  @EnumSource(names = {"OBSERVED", "CONTENT", "BLOCKS"})
  void randomAccessFileFollows(FakeItems.Mode mode) throws Exception {
    Path path = file(mode);
    try (RandomAccessFile file = FileReads.newRandomAccessFile(path.toFile(), "r")) {
      byte[] bytes = new byte[20];
      assertThat(file.read(bytes)).isEqualTo(5);
      assertThat(file.read(bytes)).isEqualTo(-1);

      Files.writeString(path, " more", StandardOpenOption.APPEND);

      assertThat(file.length()).isEqualTo(10);
      assertThat(file.read(bytes)).isEqualTo(5);
      assertThat(new String(bytes, 0, 5, "US-ASCII")).isEqualTo(" more");
      file.seek(0);
      assertThat(file.readLine()).isEqualTo("start more");
    }
  }

  private static void follows(InputStream stream, Path path) throws Exception {
    byte[] bytes = new byte[20];
    assertThat(stream.read(bytes)).isEqualTo(5);
    assertThat(stream.read(bytes)).isEqualTo(-1);
    assertThat(stream.read()).isEqualTo(-1);

    Files.writeString(path, " more", StandardOpenOption.APPEND);

    assertThat(stream.available()).isEqualTo(5);
    assertThat(stream.read()).isEqualTo(' ');
    assertThat(stream.read(bytes, 0, 2)).isEqualTo(2);
    Files.writeString(path, " still", StandardOpenOption.APPEND);
    assertThat(new String(stream.readAllBytes(), StandardCharsets.US_ASCII)).isEqualTo("re still");
    assertThat(stream.read(bytes)).isEqualTo(-1);
  }

  private static void gathers(InputStream stream, Path path) throws Exception {
    assertThat(stream.read()).isEqualTo('s');
    Files.writeString(path, " more", StandardOpenOption.APPEND);
    assertThat(new String(stream.readNBytes(6), StandardCharsets.US_ASCII)).isEqualTo("tart m");
    Files.writeString(path, " still", StandardOpenOption.APPEND);
    assertThat(new String(stream.readAllBytes(), StandardCharsets.US_ASCII)).isEqualTo("ore still");
  }

  @ParameterizedTest
  @EnumSource(names = {"OBSERVED", "CONTENT", "BLOCKS"})
  void fileInputStreamFollows(FakeItems.Mode mode) throws Exception {
    Path path = file(mode);
    try (InputStream stream = FileReads.newFileInputStream(path.toFile())) {
      follows(stream, path);
    }
    path = file(mode);
    try (InputStream stream = FileReads.newFileInputStream(path.toFile())) {
      gathers(stream, path);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OBSERVED", "CONTENT", "BLOCKS"})
  void streamOfAPathFollows(FakeItems.Mode mode) throws Exception {
    Path path = file(mode);
    try (InputStream stream = FileReads.newInputStream(path)) {
      follows(stream, path);
    }
    path = file(mode);
    try (InputStream stream = FileReads.newInputStream(path)) {
      gathers(stream, path);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OBSERVED", "CONTENT", "BLOCKS"})
  void channelFollows(FakeItems.Mode mode) throws Exception {
    Path path = file(mode);
    try (FileChannel channel = FileReads.open(path)) {
      ByteBuffer bytes = ByteBuffer.allocate(20);
      assertThat(channel.read(bytes)).isEqualTo(5);
      assertThat(channel.read(bytes)).isEqualTo(-1);

      Files.writeString(path, " more", StandardOpenOption.APPEND);

      assertThat(channel.size()).isEqualTo(10);
      assertThat(channel.read(bytes)).isEqualTo(5);
      assertThat(new String(bytes.array(), 0, 10, "US-ASCII")).isEqualTo("start more");
      assertThat(channel.position()).isEqualTo(10);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OBSERVED", "CONTENT", "BLOCKS"})
  void channelTransferReachesTheCurrentSize(FakeItems.Mode mode) throws Exception {
    Path path = file(mode);
    try (FileChannel channel = FileReads.open(path)) {
      assertThat(channel.read(ByteBuffer.allocate(2))).isEqualTo(2);
      Files.writeString(path, " more", StandardOpenOption.APPEND);

      ByteArrayOutputStream out = new ByteArrayOutputStream();
      WritableByteChannel target = Channels.newChannel(out);
      assertThat(channel.transferTo(0, channel.size(), target)).isEqualTo(10);
      assertThat(channel.transferTo(5, Long.MAX_VALUE, target)).isEqualTo(5);
      assertThat(channel.transferTo(8, 1, target)).isEqualTo(1);
      assertThat(channel.transferTo(10, 5, target)).isZero();
      assertThat(out.toString(StandardCharsets.US_ASCII)).isEqualTo("start more morer");
      assertThat(channel.position()).isEqualTo(2);
    }
  }

  /** Like the JDK's: within the current file, and back to its start. */
  @ParameterizedTest
  @EnumSource(names = {"OBSERVED", "CONTENT", "BLOCKS"})
  void streamOfAPathSkipsWithinTheGrownFile(FakeItems.Mode mode) throws Exception {
    Path path = file(mode);
    try (InputStream stream = FileReads.newInputStream(path)) {
      assertThat(stream.skip(3)).isEqualTo(3);
      Files.writeString(path, " more", StandardOpenOption.APPEND);

      Thread.currentThread().interrupt(); // Streams ignore the interrupt.
      assertThat(stream.skip(100)).isEqualTo(7);
      assertThat(stream.skip(1)).isZero();
      assertThat(stream.skip(-100)).isEqualTo(-10);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(new String(stream.readAllBytes(), StandardCharsets.US_ASCII))
          .isEqualTo("start more");
    }
  }
}
