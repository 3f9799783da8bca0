package io.coordl.reports.jmc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.reports.recording.Recordings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The plug-in as Mission Control has it: its own jars and this one, nothing else. */
class RulesJarIT {
  private static final Path JAR = Path.of("target/coordl-jmc-rules.jar").toAbsolutePath();

  @TempDir Path folder;

  /** Jars of Mission Control and what it needs; none of ours, no Jackson, no picocli. */
  private static String classPath() {
    Set<String> wanted = Set.of("org/openjdk/jmc", "org/owasp/encoder", "lz4-java");
    String theirs =
        Arrays.stream(System.getProperty("java.class.path").split(":"))
            .filter(entry -> wanted.stream().anyMatch(entry::contains))
            .collect(Collectors.joining(":"));
    return JAR + ":" + theirs;
  }

  private static String run(Path directory, String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Duser.language=en",
                "-cp",
                classPath()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }

  @Test
  void missionControlsReportHasOurFindings() throws Exception {
    Path job =
        Recordings.record(
            folder.resolve("job.jfr"),
            () -> {
              Recordings.emitJob();
              Recordings.emitFault("here", "<script>alert(1)</script>");
            });

    String output =
        run(
            folder,
            "org.openjdk.jmc.flightrecorder.rules.report.html.JfrHtmlRulesReport",
            job.toString(),
            folder.resolve("report.html").toString());

    assertThat(output).doesNotContain("Exception", "ServiceConfigurationError");
    String report = Files.readString(folder.resolve("report.html"));
    assertThat(report)
        .contains("CoorDL: data stall", "Training waits for data 39.2 % of its time.")
        .contains("The agent had 1 fault; the program went on without its help there.")
        .doesNotContain("<script>alert(1)");
  }

  /** What Equinox needs to resolve the jar and to find its extension. */
  @Test
  void theJarIsAPlugInOfMissionControl() throws Exception {
    try (JarFile jar = new JarFile(JAR.toFile())) {
      Manifest manifest = jar.getManifest();
      assertThat(manifest.getMainAttributes().getValue("Bundle-SymbolicName"))
          .isEqualTo("io.coordl.jmc.rules;singleton:=true");
      assertThat(manifest.getMainAttributes().getValue("Bundle-ManifestVersion")).isEqualTo("2");
      assertThat(manifest.getMainAttributes().getValue("Require-Bundle"))
          .isEqualTo(
              "org.openjdk.jmc.common,org.openjdk.jmc.flightrecorder,"
                  + "org.openjdk.jmc.flightrecorder.rules");
      assertThat(new String(jar.getInputStream(jar.getEntry("plugin.xml")).readAllBytes(), UTF_8))
          .contains("\"org.openjdk.jmc.flightrecorder.rules.ruleProvider\"");
      assertThat(jar.getEntry("META-INF/LICENSE")).isNotNull();
      assertThat(jar.getEntry("META-INF/NOTICE")).isNotNull();
      assertThat(jar.stream())
          .noneMatch(entry -> entry.getName().startsWith("org/openjdk"))
          .noneMatch(entry -> entry.getName().startsWith("tools/jackson"));
    }
  }
}
