package io.coordl.reports;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.reports.recording.Recordings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jar and its launcher as a user has them: nothing else on the class path. */
class CoordlJarIT {
  private static final Path TARGET = Path.of("target").toAbsolutePath();

  @TempDir Path folder;

  private record Ended(int code, String output) {}

  private static Ended coordl(Object... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(TARGET.resolve("coordl").toString()));
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Ended(process.waitFor(), output);
  }

  @Test
  void theLauncherRunsTheJarBesideIt() throws Exception {
    Path job = Recordings.record(folder.resolve("a job.jfr"), Recordings::emitJob);

    Ended text = coordl("summary", job);
    Ended json = coordl("summary", "--json", job);
    Ended missing = coordl("summary", folder.resolve("missing.jfr"));
    Ended version = coordl("--version");

    assertThat(text.code()).as(text.output()).isZero();
    assertThat(text.output()).startsWith("CoorDL summary of " + job).contains("300 batches");
    assertThat(json.code()).as(json.output()).isZero();
    assertThat(json.output()).startsWith("{").contains("\"schemaVersion\" : 1");
    assertThat(missing.code()).isEqualTo(1);
    assertThat(missing.output().lines()).hasSize(1);
    assertThat(version.output()).matches("coordl \\d+\\.\\d+\\.\\d+\\RJava .+\\R.+\\R");
  }

  @Test
  void licencesAndNoticesAreInTheJar() throws Exception {
    try (JarFile jar = new JarFile(TARGET.resolve("coordl.jar").toFile())) {
      assertThat(jar.getEntry("META-INF/LICENSE")).isNotNull();
      assertThat(
              new String(jar.getInputStream(jar.getEntry("META-INF/NOTICE")).readAllBytes(), UTF_8))
          .startsWith("CoorDL for the JVM")
          .contains("# Jackson JSON processor");
    }
  }
}
