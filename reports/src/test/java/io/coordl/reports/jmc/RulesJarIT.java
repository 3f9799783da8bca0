package io.coordl.reports.jmc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.reports.recording.Recordings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The plug-in as Mission Control loads it, beside only Mission Control's own jars. */
class RulesJarIT {
  private static final Path JAR = Path.of("target/coordl-jmc-rules.jar").toAbsolutePath();

  @TempDir Path folder;

  /**
   * Parts of the paths of Mission Control's jars and their dependencies: none of ours, no Jackson,
   * no picocli.
   */
  private static final List<String> MISSION_CONTROL =
      List.of("org/openjdk/jmc", "org/owasp/encoder", "lz4-java");

  private static List<String> jars(List<String> wanted) {
    return Pattern.compile(":")
        .splitAsStream(System.getProperty("java.class.path"))
        .filter(entry -> wanted.stream().anyMatch(entry::contains))
        .toList();
  }

  private static String run(String classPath, List<String> arguments) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Duser.language=en",
                "-cp",
                classPath));
    command.addAll(arguments);
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }

  @Test
  void missionControlsReportShowsOurFindings() throws Exception {
    Path job =
        Recordings.record(
            folder.resolve("job.jfr"),
            () -> {
              Recordings.emitJob();
              Recordings.emitFault("here", "<script>alert(1)</script>");
            });

    String output =
        run(
            JAR + ":" + String.join(":", jars(MISSION_CONTROL)),
            List.of(
                "org.openjdk.jmc.flightrecorder.rules.report.html.JfrHtmlRulesReport",
                job.toString(),
                folder.resolve("report.html").toString()));

    assertThat(output).doesNotContain("Exception", "ServiceConfigurationError");
    String report = Files.readString(folder.resolve("report.html"));
    assertThat(report)
        .contains(
            "CoorDL: data stall",
            "Training waits for data 13.3 % of its time from the second epoch on.")
        .contains("The agent had 1 fault; each time, the program continued without it.")
        .doesNotContain("<script>alert(1)");
  }

  /**
   * The application finds rules through its plug-in framework, not on a class path. The same
   * framework, with Mission Control's bundles, accepts the jar and finds every rule in it.
   */
  @Test
  void thePlugInFrameworkFindsEveryRule() throws Exception {
    List<String> arguments =
        new ArrayList<>(List.of(Equinox.class.getName(), folder.resolve("osgi").toString()));
    arguments.addAll(jars(List.of("org.eclipse.equinox.common", "org.eclipse.equinox.registry")));
    arguments.addAll(jars(MISSION_CONTROL));
    arguments.add(JAR.toString());

    String output =
        run(
            Path.of("target/test-classes") + ":" + jars(List.of("org.eclipse.osgi")).get(0),
            arguments);

    assertThat(output.lines().filter(line -> line.startsWith("io.coordl.jmc.rules has io.coordl.")))
        .as(output)
        .hasSameSizeAs(
            Files.readAllLines(
                Path.of(
                    "src/main/jmc/META-INF/services/org.openjdk.jmc.flightrecorder.rules.IRule")));
  }

  /** Equinox needs these entries to resolve the jar and to find its extension. */
  @Test
  void theManifestDeclaresAPlugInOfMissionControl() throws Exception {
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
