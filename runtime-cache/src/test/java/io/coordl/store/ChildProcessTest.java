package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A program started by the job retains no part of the store, even if it outlives the job. (The JDK
 * closes all descriptors in its child processes. Processes started by native code may inherit them,
 * like those of any file that the JDK opens.)
 */
@Tag("slow")
class ChildProcessTest {
  @TempDir Path shared;

  @Test
  void aChildProcessHasNoStoreFileOpenOrMapped() throws Exception {
    try (ArenaStore group = Items.openHost(shared, "group", () -> 2 << 20, line -> {});
        ArenaStore own = ArenaStore.openProcess(shared, ByteBudget.parse("2m"), line -> {})) {
      for (ArenaStore store : List.of(group, own)) {
        store.fetch(Items.key(1), Items.length(1), Items.loader(1));
      }
      assertThat(ofStore(Path.of("/proc/self/fd"))).isNotEmpty();
      String child = run("ls -l /proc/self/fd; cat /proc/self/maps");
      assertThat(child).contains("cat").doesNotContain(".arena");
    }
  }

  private static List<Path> ofStore(Path descriptors) throws IOException {
    try (Stream<Path> all = Files.list(descriptors)) {
      return all.filter(ChildProcessTest::isOfStore).toList();
    }
  }

  private static boolean isOfStore(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().contains(".arena");
    } catch (IOException e) {
      return false; // The descriptor of the listing itself.
    }
  }

  private static String run(String command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder("/bin/sh", "-c", command).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    return out;
  }
}
