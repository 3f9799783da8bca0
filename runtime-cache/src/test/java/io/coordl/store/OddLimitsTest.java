package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.host.OwnDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores in processes with a strict umask, a file size limit or a read-only directory. */
class OddLimitsTest {
  @TempDir Path directory;

  /**
   * Opens both kinds of store in a directory, caches an item in each, and prints the log and the
   * outcomes.
   */
  static final class Job {
    public static void main(String[] args) throws IOException {
      Path shared = OwnDirectory.in(Path.of(args[0]));
      try (ArenaStore host =
          ArenaStore.openHost(shared, "group", ByteBudget.parse("2m"), Job::print)) {
        print("host " + host.fetch(Items.key(1), Items.length(1), Items.loader(1)).outcome());
      } catch (IOException e) {
        print(e.getMessage());
      }
      try (ArenaStore own =
          ArenaStore.openProcess(Path.of(args[0]), ByteBudget.parse("2m"), Job::print)) {
        print("process " + own.fetch(Items.key(1), Items.length(1), Items.loader(1)).outcome());
      }
    }

    private static void print(String sentence) {
      System.out.println(sentence);
    }

    private Job() {}
  }

  private List<String> run(String before) throws Exception {
    Process job =
        new ProcessBuilder(
                "sh",
                "-c",
                before + " && exec \"$@\"",
                directory.toString(),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-cp",
                System.getProperty("java.class.path"),
                Job.class.getName(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output = new String(job.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(job.waitFor()).as(output).isZero();
    return output.lines().toList();
  }

  @Test
  void aUmaskThatRemovesAllPermissionsIsHarmless() throws Exception {
    assertThat(run("umask 777")).containsExactly("host ADMITTED", "process ADMITTED");
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aFileSizeLimitIsNamed() throws Exception {
    String why = "(ulimit -f forbids this process to create files of this size)";
    List<String> lines = run("ulimit -f 1000");
    assertThat(lines).hasSize(3);
    assertThat(lines.get(0))
        .startsWith("The store " + directory)
        .endsWith("cannot be created or used " + why + ": nothing is cached.");
    assertThat(lines.get(1))
        .isEqualTo(directory + " cannot be used " + why + ": the cache uses direct buffers.");
    assertThat(lines.get(2)).isEqualTo("process ADMITTED");
  }

  @Test
  void aReadOnlyDirectoryIsNamed() throws Exception {
    String mount = "mount -t tmpfs -o ro none ";
    if (new ProcessBuilder("unshare", "-m", "sh", "-c", mount + directory).start().waitFor() != 0) {
      System.out.println("skipped: no right to mount a file system");
      Assumptions.abort("no right to mount a file system");
    }
    List<String> lines = run("exec unshare -m sh -c '" + mount + "$0 && exec \"$@\"' $0 \"$@\"");
    assertThat(lines).hasSize(3);
    assertThat(lines.get(0))
        .startsWith("The store " + directory)
        .endsWith("cannot be created or used (Read-only file system): nothing is cached.");
    assertThat(lines.get(1)).contains("cannot be used (Read-only file system)");
  }
}
