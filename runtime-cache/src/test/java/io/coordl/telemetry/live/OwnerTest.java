package io.coordl.telemetry.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Finds the user of this process. */
final class OwnerTest {
  /** Prints the user found without /proc. */
  public static void main(String[] args) throws Exception {
    System.out.print(Owner.user(Path.of(args[0], "no-proc")));
  }

  /** As if /proc were not mounted and the user had no home directory. */
  @Test
  void withoutProcTheUserIsTheOwnerOfANewFile(@TempDir Path folder) throws Exception {
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Duser.home=/no/such/home",
                    "-Djava.io.tmpdir=" + folder,
                    "-cp",
                    System.getProperty("java.class.path"),
                    OwnerTest.class.getName(),
                    folder.toString()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(process.waitFor()).isZero();
    assertThat(output).isEqualTo(Long.toString(Owner.user()));
    assertThat(folder).isEmptyDirectory();
  }
}
