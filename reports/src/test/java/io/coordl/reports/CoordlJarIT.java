package io.coordl.reports;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.reports.recording.Recordings;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jar and its launcher as users run them, with nothing else on the class path. */
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
    assertThat(json.output()).startsWith("{").contains("\"schemaVersion\" : 2");
    assertThat(missing.code()).isEqualTo(1);
    assertThat(missing.output().lines()).hasSize(1);
    assertThat(version.output()).matches("coordl \\d+\\.\\d+\\.\\d+\\RJava .+\\R.+\\R");
  }

  /** Runs a script; {@code $1} is the launcher, {@code $2} the scratch folder. */
  private Ended bash(String script, Map<String, String> environment) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
                "bash",
                "-c",
                script,
                "bash",
                TARGET.resolve("coordl").toString(),
                folder.toString())
            .redirectErrorStream(true);
    builder.environment().keySet().removeIf(name -> name.startsWith("LC_") || name.equals("LANG"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().putAll(environment);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Ended(process.waitFor(), output);
  }

  /** The pipe has no reader when the command starts, so the outcome depends on no race. */
  @Test
  void aClosedPipeEndsTheCommandQuietly() throws Exception {
    Ended ended =
        bash(
            "mkfifo $2/pipe; exec 3<>$2/pipe; exec 4>$2/pipe; exec 3<&-; $1 --help >&4; echo $?",
            Map.of());

    assertThat(ended.output()).isEqualTo("141\n");
  }

  @Test
  void aFullDiskIsAnErrorAndNotAnEmptyResult() throws Exception {
    Ended ended = bash("$1 --help >/dev/full", Map.of());

    assertThat(ended.code()).isEqualTo(74);
    assertThat(ended.output())
        .isEqualTo("coordl: the result cannot be written: No space left on device.\n");
  }

  @Test
  void devicesPipesAndFoldersAreRefused() throws Exception {
    Ended ended =
        bash(
            "mkfifo $2/pipe; for file in /dev/zero $2/pipe $2 $2/none; do $1 summary $file; echo"
                + " $?; done",
            Map.of());

    assertThat(ended.output())
        .isEqualTo(
            "coordl: /dev/zero is not a file.\n1\ncoordl: "
                + folder
                + "/pipe is not a file.\n1\ncoordl: "
                + folder
                + " is a directory without recordings (*.jfr).\n1\ncoordl: "
                + folder
                + "/none does not exist.\n1\n");
  }

  /** Containers often have no locale; without the launcher, Java could not name this file. */
  @Test
  void namesAreReadAndWrittenInUtf8WithoutALocale() throws Exception {
    Path job = Recordings.record(folder.resolve("job.jfr"), Recordings::emitJob);
    Ended ended =
        bash(
            "mv $2/job.jfr $2/$'\\xc3\\xa9'.jfr; $1 summary $2/*.jfr | head -1;"
                + " $1 summary --json $2/*.jfr | head -8",
            Map.of());

    assertThat(job).doesNotExist();
    assertThat(ended.output())
        .contains("CoorDL summary of " + folder + "/\u00e9.jfr")
        .contains("\\u00E9.jfr\"");
  }

  @Test
  void bashCompletesCommandsOptionsAndFiles() throws Exception {
    Ended ended =
        bash(
            """
            cd $2; touch my.jfr; $1 generate-completion > complete.sh; source complete.sh
            complete -p coordl
            compopt() { :; }
            ask() {
              COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
              _complete_coordl; echo "${COMPREPLY[*]}"
            }
            ask coordl su
            ask coordl summary --j
            ask coordl summary m
            ask coordl help su
            """,
            Map.of());

    assertThat(ended.output().lines())
        .containsExactly(
            "complete -o default -F _complete_coordl coordl",
            "summary",
            "--json",
            "my.jfr",
            "summary");
  }

  @Test
  void thereAreNoColoursOutsideATerminal() throws Exception {
    Ended help = bash("$1 --help; $1 summary --jsn a.jfr", Map.of("TERM", "xterm-256color"));

    assertThat(help.output()).doesNotContain("\033").contains("Possible solutions: --json");
  }

  /** The jar contains only some packages of the agent's modules. */
  @Test
  void everyOwnClassThatTheJarUsesIsInIt() {
    StringWriter output = new StringWriter();
    PrintWriter writer = new PrintWriter(output);
    int code =
        ToolProvider.findFirst("jdeps")
            .orElseThrow()
            .run(
                writer,
                writer,
                "--multi-release=17",
                "--missing-deps",
                TARGET.resolve("coordl.jar").toString());

    assertThat(code).as(output.toString()).isZero();
    assertThat(output.toString().lines().filter(line -> line.contains("-> io.coordl."))).isEmpty();
  }

  @Test
  void recordingsAreComparedPredictedAndShown() throws Exception {
    Path before = Recordings.record(folder.resolve("before.jfr"), Recordings::emitJob);
    Path after = Recordings.record(folder.resolve("after.jfr"), Recordings::emitJob);

    for (Ended ended :
        List.of(
            coordl("compare", before, after),
            coordl("whatif", before),
            coordl("report", before, "-o", folder.resolve("page.html")))) {
      assertThat(ended.output()).doesNotContain("Exception", "Error:");
      assertThat(ended.code()).as(ended.output()).isZero();
    }
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
