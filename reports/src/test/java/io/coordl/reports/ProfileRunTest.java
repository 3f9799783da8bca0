package io.coordl.reports;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.coordl.reports.accelerator.AcceleratorProfile;
import io.coordl.reports.recording.Profiles;
import io.coordl.reports.recording.Recordings;
import io.coordl.telemetry.event.PhaseEvent;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code coordl profile} starts the program with the agent and prints the profile. The program here
 * is a script, mostly called java, that writes a recording to the file that the agent's argument
 * names.
 */
class ProfileRunTest {
  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int coordl(Object... arguments) {
    String[] words = Arrays.stream(arguments).map(Object::toString).toArray(String[]::new);
    return Coordl.run(new PrintWriter(out), new PrintWriter(err), Terminal.NONE, words);
  }

  private Path agent() throws IOException {
    return Files.writeString(folder.resolve("coordl-agent.jar"), "");
  }

  /**
   * Returns a program of this name that logs its arguments, writes a recording and exits with a
   * code.
   */
  private Path program(String name, int code) throws Exception {
    return program(name, code, Profiles::emitSerial);
  }

  private Path program(String name, int code, Runnable events) throws Exception {
    Path recording = Recordings.record(folder.resolve("prepared.jfr"), events);
    Path script = folder.resolve(name);
    Files.writeString(
        script,
        """
        #!/bin/sh
        printf '%%s\\n' "$@" > %1$s/words
        printf '%%s' "$JAVA_TOOL_OPTIONS" > %1$s/options
        to=$(printf '%%s\\n' "$@" $JAVA_TOOL_OPTIONS | sed -n 's/.*record=\\([^,]*\\),.*/\\1/p')
        cp %2$s "$to"
        exit %3$d
        """
            .formatted(folder, recording, code));
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr--r--"));
    return script;
  }

  @Test
  void theAgentIsPassedToJavaAndTheProfileIsPrinted() throws Exception {
    Path java = program("java", 0);
    Path agent = agent();
    Path file = folder.resolve("out.jfr");

    int code =
        coordl(
            "profile",
            "--agent",
            agent,
            "--steps",
            50,
            "-o",
            file,
            "--",
            java,
            "-javaagent:own.jar",
            "-cp",
            "x",
            "my.Train",
            "--epochs",
            90);

    assertThat(code).as(err.toString()).isZero();
    assertThat(Files.readAllLines(folder.resolve("words")))
        .containsExactly(
            "-javaagent:" + agent + "=profile=all,profile.steps=50,record=" + file + ",summary=off",
            "-javaagent:own.jar",
            "-cp",
            "x",
            "my.Train",
            "--epochs",
            "90");
    assertThat(out.toString()).contains("Limit       the largest part is prep stall");
  }

  /** The recording is the same on any number of cores, so the command halves them each time. */
  @Test
  void fewerCoresAreMeasuredInSmallerCpuSets() throws Exception {
    List<Integer> cpus = FewerCores.cpus();
    Path file = folder.resolve("out.jfr");

    int code =
        coordl(
            "profile",
            "--agent",
            agent(),
            "--fewer-cores",
            "-o",
            file,
            "--",
            program("java", 0),
            "my.Train");

    assertThat(code).as(err.toString()).isZero();
    assertThat(err.toString())
        .contains("coordl: to see what the job needs, run: coordl demand " + file);
    for (int cores = cpus.size() / 2; cores > 0; cores /= 2) {
      assertThat(FewerCores.file(file, cores)).exists();
    }
    if (cpus.size() > 1) {
      assertThat(Files.readAllLines(folder.resolve("words")))
          .containsExactly(
              "-javaagent:"
                  + folder.resolve("coordl-agent.jar")
                  + "=profile=cached,profile.steps=50,record="
                  + folder.resolve("out-1-core.jfr")
                  + ",summary=off",
              "my.Train");
    }
    assertThat(
            coordl("profile", "--agent", agent(), "--fewer-cores", "--phases", "cold", "--", "x"))
        .isEqualTo(2);
  }

  private static void emitAccelerator() {
    Recordings.emitJob();
    PhaseEvent phase = Profiles.phase("accelerator", 2, 1e6, 0, 0);
    phase.compute = Math.round(0.95 * phase.wall);
    phase.storageBytes = 320_000_000;
    phase.commit();
  }

  @Test
  void eachAcceleratorIsEmulatedByOneInstance() throws Exception {
    Path java = program("java", 0, ProfileRunTest::emitAccelerator);
    Path agent = agent();

    int code =
        coordl(
            "profile",
            "--agent",
            agent,
            "--steps",
            20,
            "--accelerator",
            "30.5",
            "--up-to",
            2,
            "--json",
            "--",
            java,
            "my.Train");

    assertThat(code).as(err.toString()).isZero();
    String words = Files.readAllLines(folder.resolve("words")).get(0);
    assertThat(words)
        .startsWith("-javaagent:" + agent + "=profile.accelerator=30.5:2:")
        .endsWith(",summary=off,profile.steps=20");
    Path meeting = Path.of(words.replaceFirst(".*30.5:2:", "").replaceFirst(",.*", ""));
    assertThat(meeting.getParent()).as("nothing is left").doesNotExist();
    assertThat(
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(AcceleratorProfile.class.getResourceAsStream("accelerator.schema.json"))
                .validate(out.toString(), InputFormat.JSON))
        .isEmpty();
    JsonNode json = JsonMapper.shared().readTree(out.toString());
    assertThat(json.at("/fed").asInt()).isEqualTo(2);
    assertThat(json.at("/runs/1/utilisation").asDouble()).isEqualTo(0.95);
    assertThat(json.at("/runs/1/samplesPerSecond").asDouble()).isEqualTo(2_000);
    assertThat(err.toString()).contains("coordl: 2 emulated accelerators: about half a minute");
  }

  @Test
  void aFailedInstanceGetsOneSentence() throws Exception {
    Path script = folder.resolve("java");
    Files.writeString(script, "#!/bin/sh\necho starting\necho out of shape\nexit 3\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr--r--"));
    assertThat(coordl("profile", "--agent", agent(), "--accelerator", "50", "--", script))
        .isEqualTo(1);
    assertThat(err.toString())
        .endsWith("coordl: the program ended with exit code 3: out of shape\n");
    err.getBuffer().setLength(0);
    assertThat(coordl("profile", "--agent", agent(), "--accelerator", "50", "--", "/bin/true"))
        .isEqualTo(1);
    assertThat(err.toString()).contains("the program wrote no recording");
    err.getBuffer().setLength(0);
    Path other = program("train.sh", 0);
    assertThat(coordl("profile", "--agent", agent(), "--accelerator", "50", "--", other))
        .isEqualTo(1);
    assertThat(err.toString()).contains("nothing was measured: there was no output.");
  }

  @Test
  void anyOtherCommandGetsTheAgentThroughItsEnvironment() throws Exception {
    Path script = program("train.sh", 0);
    Path file = folder.resolve("out.jfr");

    assertThat(
            coordl(
                "profile", "--agent", agent(), "--phases", "cold", "-o", file, "--", script, "x"))
        .as(err.toString())
        .isZero();

    assertThat(Files.readAllLines(folder.resolve("words"))).containsExactly("x");
    assertThat(Files.readString(folder.resolve("options")))
        .contains("=profile=cold,record=" + file);
  }

  @Test
  void aFailedProgramIsReportedAndItsMeasurementsArePrinted() throws Exception {
    int code =
        coordl(
            "profile", "--agent", agent(), "-o", folder.resolve("o.jfr"), "--", program("java", 3));

    assertThat(code).isEqualTo(3);
    assertThat(err.toString()).contains("coordl: the program ended with exit code 3.");
    assertThat(out.toString()).contains("Limit ");
  }

  @Test
  void aProgramWithoutRecordingGetsOneSentence() throws Exception {
    int code =
        coordl("profile", "--agent", agent(), "-o", folder.resolve("o.jfr"), "--", "/bin/true");

    assertThat(code).isEqualTo(1);
    assertThat(err.toString())
        .isEqualTo(
            "coordl: the program wrote no recording: it ended before training, or uses no training"
                + " library that the agent supports, or another agent argument prevents it.\n");
  }

  @Test
  void theProgramNeedsNoDashesBeforeIt() throws Exception {
    Path recording = folder.resolve("o.jfr");

    int code = coordl("profile", "--agent", agent(), "-o", recording, "/bin/sh", "-c", "exit 7");

    assertThat(code).isEqualTo(7);
    assertThat(err.toString()).startsWith("coordl: the program ended with exit code 7.");
  }

  @Test
  void aMissingAgentAndAMissingProgramGetOneSentenceEach() throws Exception {
    assertThat(coordl("profile", "--agent", folder.resolve("no.jar"), "--", "java")).isEqualTo(1);
    assertThat(err.toString())
        .isEqualTo(
            "coordl: there is no agent at "
                + folder.resolve("no.jar")
                + ": name coordl-agent.jar with --agent.\n");
    err.getBuffer().setLength(0);

    assertThat(
            coordl(
                "profile", "--agent", agent(), "-o", folder.resolve("o.jfr"), "--", "/no/program"))
        .isEqualTo(1);
    assertThat(err.toString()).startsWith("coordl: /no/program cannot be started: ");
  }

  @Test
  void aWrongCommandLineExitsWithTwo() throws Exception {
    assertThat(coordl("profile", "--phases", "warm", "--", "java")).isEqualTo(2);
    assertThat(coordl("profile", "--agent", agent(), "--steps", 9, "--", "java")).isEqualTo(2);
    for (String step : new String[] {"0", "-1", "0.01", "1e3", "50ms", "NaN", "1000000"}) {
      err.getBuffer().setLength(0);
      assertThat(coordl("profile", "--agent", agent(), "--accelerator=" + step, "--", "java"))
          .isEqualTo(2);
      assertThat(err.toString())
          .startsWith(
              "coordl: --accelerator is '"
                  + step
                  + "', expected milliseconds from 0.1 to 999999.999, such as 50 or 3.5.");
    }
    assertThat(coordl("profile", "--accelerator=5", "--phases=cold", "--", "java")).isEqualTo(2);
    assertThat(coordl("profile", "--accelerator=5", "-o", "x.jfr", "--", "java")).isEqualTo(2);
    assertThat(coordl("profile", "--up-to=5", "--", "java")).isEqualTo(2);
    assertThat(coordl("profile", "--agent", agent(), "-o", "a,b.jfr", "--", "java")).isEqualTo(2);
    assertThat(
            coordl(
                "profile", "--agent", agent(), "--", "java", "-javaagent:x/coordl-agent.jar=off"))
        .isEqualTo(2);
  }

  @Test
  void anInterruptStopsTheProgram() throws Exception {
    Path agent = agent();
    Path pid = folder.resolve("pid");
    Path java = folder.resolve("java");
    Files.writeString(
        java,
        "#!/bin/sh\necho $$ > %1$s.new && mv %1$s.new %1$s\nexec sleep 36000\n".formatted(pid));
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr--r--"));
    Thread command =
        new Thread(
            () -> coordl("profile", "--agent", agent, "-o", folder.resolve("o.jfr"), "--", java));

    command.start();
    while (!Files.exists(pid)) {
      Thread.sleep(10);
    }
    command.interrupt();
    command.join();

    assertThat(err.toString()).contains("interrupted while the program ran");
    Optional<ProcessHandle> program =
        ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()));
    if (program.isPresent()) {
      try {
        program.get().onExit().get(); // The test times out here if the program is still running.
      } finally {
        program.get().destroyForcibly();
      }
    }
  }

  @Test
  void anUnusableOutputIsRefusedBeforeTheProgramRuns() throws Exception {
    Path java = program("java", 0);
    Path notes = Files.writeString(folder.resolve("notes.txt"), "mine");

    assertThat(coordl("profile", "--agent", agent(), "-o", notes, "--", java)).isEqualTo(74);
    assertThat(err.toString())
        .isEqualTo("coordl: " + notes + " exists and is not a recording: name another file.\n");
    assertThat(notes).hasContent("mine");
    err.getBuffer().setLength(0);

    Path nowhere = folder.resolve("no/o.jfr");
    assertThat(coordl("profile", "--agent", agent(), "-o", nowhere, "--", java)).isEqualTo(74);
    assertThat(err.toString()).contains("there is no directory " + folder.resolve("no"));
    err.getBuffer().setLength(0);

    Path pattern = folder.resolve("o-%p.jfr");
    assertThat(coordl("profile", "--agent", agent(), "-o", pattern, "--", java)).isEqualTo(2);
    assertThat(err.toString()).contains("must not contain %p");
    assertThat(folder.resolve("words")).doesNotExist();
  }

  @Test
  void anExistingRecordingIsOverwritten() throws Exception {
    Path java = program("java", 0);
    Path file = Recordings.record(folder.resolve("o.jfr"), Recordings::emitJob);

    assertThat(coordl("profile", "--agent", agent(), "-o", file, "--", java))
        .as(err.toString())
        .isZero();

    assertThat(file).hasSameBinaryContentAs(folder.resolve("prepared.jfr"));
  }

  @Test
  void aProfileOfOnePhaseHasItsOwnFile() throws Exception {
    Path java = program("java", 0);
    Path file = Path.of("coordl-profile-cold.jfr").toAbsolutePath();
    try {
      assertThat(coordl("profile", "--agent", agent(), "--phases", "cold", "--", java))
          .as(err.toString())
          .isZero();
      assertThat(file).exists();
    } finally {
      Files.deleteIfExists(file);
    }
  }
}
