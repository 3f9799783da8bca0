package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.FileReads;
import io.coordl.bridge.SpanSink;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileReader;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With {@code -Duser.dir} the program reads the same files as without the agent. */
@Tag("slow")
class WorkingDirectoryTest {
  private static final List<String> PROCESS_THEN_USER =
      List.of("process", "process", "process", "user", "user", "user");

  @TempDir Path directory;

  private List<String> read(String user) throws Exception {
    Path process = Files.createDirectories(directory.resolve("process"));
    Files.writeString(process.resolve("relative"), "process");
    Files.createDirectories(directory.resolve("user"));
    Files.writeString(directory.resolve("user/relative"), "user");
    String classes = new File("target/classes").getAbsolutePath();
    String tests = new File("target/test-classes").getAbsolutePath();
    Process job =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Duser.dir=" + directory.resolve(user),
                "-cp",
                classes + File.pathSeparator + tests,
                Reader.class.getName(),
                directory.toString())
            .directory(process.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    List<String> lines = job.inputReader(StandardCharsets.UTF_8).lines().toList();
    assertThat(job.waitFor()).isZero();
    return lines;
  }

  @Test
  void javaIoUsesTheProcessDirectoryAndNioUsesUserDir() throws Exception {
    List<String> lines = read("user");
    assertThat(lines.subList(0, 6)).isEqualTo(PROCESS_THEN_USER);
    assertThat(lines.subList(6, 12)).isEqualTo(PROCESS_THEN_USER);
  }

  @Test
  void anAliasOfTheProcessDirectoryIsStillCached() throws Exception {
    Files.createSymbolicLink(directory.resolve("link"), directory.resolve("process"));
    assertThat(read("link").get(12)).isEqualTo("hits 11");
  }

  /** Reads one relative path in six ways, twice. */
  static final class Reader {
    private Reader() {}

    public static void main(String[] args) throws Exception {
      ArenaStore store =
          ArenaStore.openProcess(Path.of(args[0]), ByteBudget.parse("8m"), line -> {});
      MinioCache cache = new MinioCache(store, path -> path.endsWith("relative"));
      Bridge.install(SpanSink.NONE, cache, FaultListener.NONE);
      for (int epoch = 0; epoch < 2; epoch++) {
        try (FileInputStream stream = FileReads.newFileInputStream("relative")) {
          print(new String(stream.readAllBytes(), StandardCharsets.UTF_8));
        }
        try (RandomAccessFile file = FileReads.newRandomAccessFile("relative", "r")) {
          byte[] bytes = new byte[20];
          print(new String(bytes, 0, file.read(bytes), StandardCharsets.UTF_8));
        }
        try (FileReader reader = FileReads.newFileReader("relative", StandardCharsets.UTF_8)) {
          char[] chars = new char[20];
          print(new String(chars, 0, reader.read(chars)));
        }
        print(FileReads.readString(Path.of("relative")));
        try (var stream = FileReads.newInputStream(Path.of("relative"))) {
          print(new String(stream.readAllBytes(), StandardCharsets.UTF_8));
        }
        try (var channel = FileReads.open(Path.of("relative"))) {
          var bytes = java.nio.ByteBuffer.allocate(20);
          print(new String(bytes.array(), 0, channel.read(bytes), StandardCharsets.UTF_8));
        }
      }
      print("hits " + cache.statistics().of(Outcome.HIT));
    }

    private static void print(String line) {
      System.out.println(line);
    }
  }
}
