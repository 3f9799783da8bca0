package io.coordl.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.tools.attach.VirtualMachine;
import io.coordl.agent.Child.Outcome;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The packaged agent does not harm real programs, on the JDKs of this machine. */
final class AgentIT {
  private static final int FILES = 3;

  /** Reads of {@link program.Reads}: three rounds, two ways. */
  private static final int READS = FILES * 2 * 3;

  private static final String CACHING = "status=off,cache=minio,cache.size=10m,dataset=";

  private static final Map<Path, Outcome> PLAIN = new HashMap<>();

  @TempDir static Path data;
  @TempDir Path work;

  @BeforeAll
  static void makeData() throws IOException {
    Random random = new Random(1);
    for (int i = 0; i < FILES; i++) {
      byte[] bytes = new byte[5_000 + i];
      random.nextBytes(bytes);
      Files.write(data.resolve("item-" + i), bytes);
    }
    System.out.println("JDKs: " + Child.jdks());
  }

  static List<Path> jdks(TestInfo test) throws IOException {
    return Child.jdks(test);
  }

  private Child java(Path jdk) {
    return Child.java(jdk, work);
  }

  /** Returns the program's output and exit code without the agent. */
  private Outcome plain(Path jdk) throws IOException, InterruptedException {
    Outcome outcome = PLAIN.get(jdk);
    if (outcome == null) {
      outcome = java(jdk).reads(data, "threads").run();
      assertThat(outcome.exit()).isZero();
      assertThat(outcome.err()).isEmpty();
      PLAIN.put(jdk, outcome);
    }
    return outcome;
  }

  private void assertSameAsPlain(Path jdk, Outcome outcome) throws Exception {
    assertThat(outcome.out()).isEqualTo(plain(jdk).out());
    assertThat(outcome.exit()).isZero();
  }

  /** Asserts that each file was read from storage once and then from memory. */
  private static void assertCached(Outcome outcome) {
    assertThat(outcome.agentLines())
        .anySatisfy(
            line ->
                assertThat(line)
                    .contains("raw cache (process): " + FILES + " items")
                    .contains((READS - FILES) + " hits, " + FILES + " misses, 0 not cached"));
  }

  private void assertNothingWritten() throws IOException {
    try (Stream<Path> files = Files.list(work)) {
      assertThat(files).isEmpty();
    }
  }

  // Arguments.

  @ParameterizedTest
  @MethodSource("jdks")
  void helpIsPrintedAndTheProgramRuns(Path jdk) throws Exception {
    Outcome outcome = java(jdk).agent("help").reads(data, "threads").run();

    assertSameAsPlain(jdk, outcome);
    assertThat(outcome.err()).startsWith("Usage: java -javaagent:coordl-agent.jar");
    assertThat(outcome.err()).contains("cache.size", "enabled", "kill switch");
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void runningTheJarPrintsTheHelp(Path jdk) throws Exception {
    Outcome outcome = java(jdk).with("-jar", Child.AGENT.toString()).run();

    assertThat(outcome.exit()).isZero();
    assertThat(outcome.out() + outcome.err()).contains("Usage: java -javaagent:coordl-agent.jar");
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void anUnknownKeyPrintsOneLine(Path jdk) throws Exception {
    Outcome outcome = java(jdk).agent("cach=minio").reads(data, "threads").run();

    assertSameAsPlain(jdk, outcome);
    assertThat(outcome.err())
        .isEqualTo(
            "[coordl] unknown key 'cach' (did you mean 'cache'?);"
                + " all policies are off, and the agent only observes\n");
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aProfileWithoutTrainingIsReported(Path jdk) throws Exception {
    Outcome outcome = java(jdk).agent("profile=all").reads(data, "threads").run();

    assertSameAsPlain(jdk, outcome);
    assertThat(outcome.err())
        .contains(
            "[coordl] profile=all measured nothing: the program uses no training library that the"
                + " agent knows");
    assertNothingWritten();
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aBadValuePrintsOneLine(Path jdk) throws Exception {
    Outcome outcome = java(jdk).agent("cache=minio,cache.size=1.5g").reads(data, "threads").run();

    assertSameAsPlain(jdk, outcome);
    assertThat(outcome.err().lines()).hasSize(1);
    assertThat(outcome.err()).startsWith("[coordl] cache.size=1.5g is not valid: expected auto,");
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void argumentsInTheEnvironmentTakeEffect(Path jdk) throws Exception {
    Outcome outcome =
        java(jdk)
            .environment("COORDL_OPTS", CACHING + data + ",record=off")
            .agent("")
            .reads(data, "threads")
            .run();

    assertSameAsPlain(jdk, outcome);
    assertCached(outcome);
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void cachedReadsReturnTheSameBytes(Path jdk) throws Exception {
    Outcome outcome = java(jdk).agent("record=off," + CACHING + data).reads(data, "threads").run();

    assertSameAsPlain(jdk, outcome);
    assertCached(outcome);
    assertThat(outcome.agentLines())
        .hasSizeLessThanOrEqualTo(20)
        .hasSameSizeAs(outcome.err().lines().toList());
    assertNothingWritten();
  }

  /** With a data set, stores open before the program starts. */
  @ParameterizedTest
  @MethodSource("jdks")
  void theAgentRewritesNeitherItselfNorItsLibraries(Path jdk) throws Exception {
    Path recording = work.resolve("job.jfr");

    Outcome outcome =
        java(jdk).agent("record=" + recording + "," + CACHING + data).reads(data, "threads").run();

    assertThat(outcome.exit()).as(outcome.err()).isZero();
    assertThat(RecordingFile.readAllEvents(recording))
        .filteredOn(event -> event.getEventType().getName().equals("io.coordl.Rewritten"))
        .extracting(event -> event.getString("type"))
        .containsOnly("program.Reads");
  }

  // Kill switch.

  /** Returns the agent's classes in a log of loaded classes. */
  private static List<String> agentClasses(Path classLog) throws IOException {
    try (Stream<String> lines = Files.lines(classLog)) {
      return lines
          .filter(line -> line.contains("io.coordl.") || line.contains("net.bytebuddy."))
          .map(
              line ->
                  line.replaceAll("^.*\\] *(io\\.coordl\\.\\S+|net\\.bytebuddy\\.\\S+).*", "$1"))
          .toList();
    }
  }

  private Child logged(Path jdk, Path classLog) {
    return java(jdk).with("-Xlog:class+load:file=" + classLog);
  }

  private void assertUntouched(Path jdk, Path classLog, Child child) throws Exception {
    Outcome outcome = child.reads(data, "threads").run();

    assertSameAsPlain(jdk, outcome);
    assertThat(outcome.err()).isEmpty();
    assertThat(agentClasses(classLog)).containsExactly("io.coordl.agent.CoordlAgent");
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theKillSwitchAsArgumentLoadsOnlyTheEntryClass(Path jdk) throws Exception {
    Path log = work.resolve("classes");
    assertUntouched(jdk, log, logged(jdk, log).agent("cache=minio,enabled=false,dataset=" + data));
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theKillSwitchAsSystemPropertyLoadsOnlyTheEntryClass(Path jdk) throws Exception {
    Path log = work.resolve("classes");
    assertUntouched(
        jdk, log, logged(jdk, log).with("-Dcoordl.enabled=false").agent(CACHING + data));
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theKillSwitchInTheEnvironmentLoadsOnlyTheEntryClass(Path jdk) throws Exception {
    Path log = work.resolve("classes");
    assertUntouched(
        jdk,
        log,
        logged(jdk, log)
            .environment("COORDL_OPTS", "group=a, enabled=false")
            .agent(CACHING + data));
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theKillSwitchInAFileLeavesTheProgramAlone(Path jdk) throws Exception {
    Path file = Files.writeString(work.resolve("off.properties"), "enabled=false\n");

    Outcome outcome = java(jdk).agent(CACHING + data + ",@" + file).reads(data, "threads").run();

    assertSameAsPlain(jdk, outcome);
    assertThat(outcome.err()).isEmpty();
  }

  // Programs that do not train.

  @ParameterizedTest
  @MethodSource("jdks")
  void withoutTrainingThereIsNoRecordingSummaryOrAgentThread(Path jdk) throws Exception {
    Outcome outcome = java(jdk).agent("cache=minio").reads(data, "threads").run();

    assertSameAsPlain(jdk, outcome);
    assertThat(outcome.err()).isEmpty();
    assertNothingWritten();
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theProgramKeepsItsExitCode(Path jdk) throws Exception {
    Outcome observed = java(jdk).agent("").reads(data, "exit=7").run();
    Outcome cached = java(jdk).agent("record=off," + CACHING + data).reads(data, "exit=7").run();

    assertThat(observed.exit()).isEqualTo(7);
    assertThat(observed.err()).isEmpty();
    assertThat(cached.exit()).isEqualTo(7);
    assertCached(cached);
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void anUncaughtExceptionIsPrintedAsWithoutTheAgent(Path jdk) throws Exception {
    Outcome alone = java(jdk).reads(data, "throw").run();
    Outcome observed = java(jdk).agent("").reads(data, "throw").run();

    assertThat(alone.exit()).isEqualTo(1);
    assertThat(alone.err()).contains("IllegalStateException: as requested");
    assertThat(observed).isEqualTo(alone);
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aSecondAttachReportsItselfAndDoesNothing(Path jdk) throws Exception {
    Outcome outcome =
        java(jdk)
            .agent("record=off," + CACHING + data)
            .agent("cache=off")
            .reads(data, "threads")
            .run();

    assertSameAsPlain(jdk, outcome);
    assertCached(outcome);
    assertThat(outcome.agentLines())
        .contains(
            "[coordl] attached twice; the second attachment does nothing, so it ignores cache");
    assertThat(outcome.agentLines()).filteredOn(line -> line.contains("attached")).hasSize(1);
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void javacAndJfrAreNotRewritten(Path jdk) throws Exception {
    Path source = Files.writeString(work.resolve("Empty.java"), "class Empty { int x = y; }\n");
    for (List<String> tool :
        List.of(List.of("javac", source.toString()), List.of("jfr", "--version"))) {
      String[] arguments = tool.subList(1, tool.size()).toArray(String[]::new);
      Outcome alone = Child.tool(jdk, tool.get(0), work).with(arguments).run();
      Outcome with =
          Child.tool(jdk, tool.get(0), work)
              .environment(
                  "JAVA_TOOL_OPTIONS", "-javaagent:" + Child.AGENT + "=help," + CACHING + data)
              .with(arguments)
              .run();

      assertThat(with).isEqualTo(alone);
      assertThat(alone.out() + alone.err()).isNotEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aProgramInANamedModuleReadsThroughTheCache(Path jdk) throws Exception {
    Path sources = Files.createDirectories(work.resolve("sources/program"));
    Files.copy(Path.of("src/test/java/program/Reads.java"), sources.resolve("Reads.java"));
    Files.writeString(sources.resolveSibling("module-info.java"), "module reads {}\n");
    Path modules = work.resolve("modules");
    Outcome compiled =
        Child.tool(jdk, "javac", work)
            .with("-d", modules.resolve("reads").toString())
            .with(sources.resolve("Reads.java").toString())
            .with(sources.resolveSibling("module-info.java").toString())
            .run();
    assertThat(compiled.exit()).as(compiled.err()).isZero();

    Outcome outcome =
        java(jdk)
            .agent("record=off," + CACHING + data)
            .with("-p", modules.toString(), "-m", "reads/program.Reads")
            .with(data.toString(), "threads")
            .run();

    assertSameAsPlain(jdk, outcome);
    assertCached(outcome);
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aLateAttachServesLaterReads(Path jdk) throws Exception {
    Path err = work.resolve("err");
    Process process = java(jdk).reads(data, "wait").start(err);
    try {
      BufferedReader reader = process.inputReader(StandardCharsets.UTF_8);
      StringBuilder out = new StringBuilder(untilReady(reader));
      VirtualMachine machine = VirtualMachine.attach(Long.toString(process.pid()));
      machine.loadAgent(Child.AGENT.toString(), "record=off," + CACHING + data);
      machine.detach();
      process.getOutputStream().close();
      reader.lines().forEach(line -> out.append(line).append('\n'));

      assertThat(process.waitFor()).isZero();
      assertThat(out.toString()).isEqualTo(java(jdk).reads(data).run().out());
      assertThat(Files.readString(err))
          .contains((READS * 2 / 3 - FILES) + " hits, " + FILES + " misses, 0 not cached");
    } finally {
      process.destroyForcibly();
    }
  }

  // Beside other agents.

  private static Path other(String name) {
    return Path.of("target", "other-agents", name).toAbsolutePath();
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theAgentAndJaCoCoWorkInEitherOrder(Path jdk) throws Exception {
    for (boolean first : new boolean[] {true, false}) {
      Path executed = work.resolve("jacoco-" + first + ".exec");
      Child child = java(jdk);
      if (first) {
        child.agent("record=off," + CACHING + data);
      }
      child.agent(other("jacoco.jar"), "destfile=" + executed + ",includes=program.*");
      if (!first) {
        child.agent("record=off," + CACHING + data);
      }

      Outcome outcome = child.reads(data).run();

      assertThat(outcome.exit()).as(outcome.err()).isZero();
      assertThat(outcome.out()).isEqualTo(java(jdk).reads(data).run().out());
      assertCached(outcome);
      assertThat(new String(Files.readAllBytes(executed), StandardCharsets.ISO_8859_1))
          .as("JaCoCo instrumented the program")
          .contains("program/Reads");
    }
  }

  @Test
  void theProgramRunsTheSameBesideOpenTelemetryInEitherOrder() throws Exception {
    Path jdk = Path.of(System.getProperty("java.home"));
    Outcome alone = java(jdk).reads(data).run();
    for (boolean first :
        Boolean.getBoolean("coordl.full") ? new boolean[] {true, false} : new boolean[] {false}) {
      Child child = java(jdk);
      if (first) {
        child.agent("record=off," + CACHING + data);
      }
      child.agent(other("opentelemetry.jar"), "");
      if (!first) {
        child.agent("record=off," + CACHING + data);
      }
      Outcome outcome =
          child
              .with("-Dotel.traces.exporter=none", "-Dotel.metrics.exporter=none")
              .with("-Dotel.logs.exporter=none")
              .reads(data)
              .run();

      assertThat(outcome.exit()).as(outcome.err()).isZero();
      assertThat(outcome.out()).isEqualTo(alone.out());
      assertCached(outcome);
      assertThat(outcome.err()).contains("opentelemetry-javaagent - version");
    }
  }

  /** Runs the Prometheus project's JMX exporter with a minimal configuration. */
  @ParameterizedTest
  @MethodSource("jdks")
  void anExporterOfMBeansServesTheTotals(Path jdk) throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    Path configuration =
        Files.writeString(work.resolve("exporter.yaml"), "rules:\n- pattern: '.*'\n");
    Outcome outcome =
        java(jdk)
            .agent("jmx=on,record=off," + CACHING + data)
            .agent(other("jmx-exporter.jar"), port + ":" + configuration)
            .reads(data, "scrape=" + port)
            .run();

    assertThat(outcome.exit()).as(outcome.err()).isZero();
    assertCached(outcome);
    assertThat(outcome.out())
        .containsPattern("(?m)^io_coordl_Job_StorageItems " + (double) FILES + "$")
        .containsPattern("(?m)^io_coordl_Job_MemoryItems " + 5.0 * FILES + "$")
        .containsPattern("(?m)^io_coordl_Job_StallNanos 0.0$")
        .containsPattern("(?m)^io_coordl_Store_Hits\\{name=\"raw\",?} " + 5.0 * FILES + "$")
        .containsPattern("(?m)^io_coordl_Store_CapacityBytes\\{name=\"raw\",?} 1\\.048576E7$");
    String dashboard = Files.readString(Path.of("../examples/grafana/coordl.json"));
    assertThat(
            Pattern.compile("io_coordl_\\w+").matcher(dashboard).results().map(MatchResult::group))
        .hasSizeGreaterThan(20)
        .allSatisfy(metric -> assertThat(outcome.out()).containsPattern("(?m)^" + metric + "[ {]"));
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void noMBeanIsRegisteredUnlessRequested(Path jdk) throws Exception {
    Path classes = work.resolve("classes");
    Outcome outcome =
        logged(jdk, classes).agent("record=off," + CACHING + data).reads(data, "threads").run();

    assertSameAsPlain(jdk, outcome);
    assertThat(Files.readString(classes))
        .contains(" io.coordl.telemetry.recording.JobMonitor ")
        .doesNotContain("com.sun.jmx.mbeanserver.JmxMBeanServer ", " io.coordl.telemetry.metrics.")
        .doesNotContain(" io.prometheus.", " io.opentelemetry.");
  }

  // Failures inside the agent.

  @ParameterizedTest
  @MethodSource("jdks")
  void anUnwritableRecordingCostsOnlyTheRecording(Path jdk) throws Exception {
    Path notDirectory = Files.writeString(work.resolve("file"), "");

    Outcome outcome =
        java(jdk)
            .agent(CACHING + data + ",record=" + notDirectory + "/x.jfr")
            .reads(data, "recorder")
            .run();

    assertThat(outcome.exit()).isZero();
    assertThat(outcome.out()).isEqualTo(java(jdk).reads(data).run().out());
    assertCached(outcome);
    assertThat(outcome.agentLines())
        .filteredOn(line -> line.contains("no recording is made"))
        .singleElement()
        .asString()
        .contains("record=" + notDirectory + "/x.jfr");
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void anUnwritableDirectoryCostsOnlyTheRecording(Path jdk) throws Exception {
    // Read-only even for root, which ignores permissions.
    Outcome outcome =
        java(jdk).in(Path.of("/proc")).agent(CACHING + data).reads(data, "recorder").run();

    assertThat(outcome.exit()).isZero();
    assertThat(outcome.out()).isEqualTo(java(jdk).reads(data).run().out());
    assertCached(outcome);
    assertThat(outcome.agentLines())
        .filteredOn(line -> line.contains("no recording is made"))
        .hasSize(1);
    assertThat(outcome.agentLines())
        .filteredOn(line -> line.startsWith("[coordl] recording: none"))
        .hasSize(1);
  }

  /** Returns a copy of the agent with one entry broken. */
  private Path broken(String entry) throws IOException {
    Path copy = Files.copy(Child.AGENT, work.resolve("broken.jar"));
    try (FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + copy.toUri()), Map.of())) {
      Path path = jar.getPath(entry);
      byte[] bytes = Files.readAllBytes(path);
      bytes[7] = 1; // Class file version 1.
      bytes[0] = 0; // No magic number.
      Files.write(path, bytes);
    }
    return copy;
  }

  static Stream<String> entries() {
    return Stream.of(
        "inst/io/coordl/agent/install/Installer.classdata",
        "inst/io/coordl/agent/install/Policies.classdata",
        "inst/io/coordl/transformers/ProgramTransformer.classdata",
        "inst/io/coordl/transformers/callsite/CallSiteRewriter$Sites.classdata",
        "inst/io/coordl/store/MinioCache.classdata",
        "inst/io/coordl/telemetry/recording/JobMonitor.classdata",
        "inst/io/coordl/telemetry/recording/ExitSummary.classdata",
        "inst/org/HdrHistogram/Histogram.classdata",
        "inst/net/bytebuddy/jar/asm/ClassWriter.classdata",
        "io/coordl/bridge/IsolatedLoader.class",
        "io/coordl/bridge/ItemFileInputStream.class",
        "io/coordl/bridge/Nothing.class");
  }

  @ParameterizedTest
  @MethodSource("entries")
  void aBrokenAgentClassDoesNotAffectTheProgram(String entry) throws Exception {
    Path jdk = Path.of(System.getProperty("java.home"));

    Outcome outcome =
        java(jdk).agent(broken(entry), "record=off," + CACHING + data).reads(data).run();

    assertThat(outcome.out()).isEqualTo(java(jdk).reads(data).run().out());
    assertThat(outcome.exit()).isZero();
    assertThat(outcome.agentLines()).anyMatch(line -> line.contains("ClassFormatError"));
  }

  @Test
  void aBrokenMetricsLibraryCostsOnlyTheMetrics() throws Exception {
    Path jdk = Path.of(System.getProperty("java.home"));
    Path agent = broken("inst/io/opentelemetry/sdk/resources/Resource.classdata");

    Outcome outcome =
        java(jdk)
            .agent(agent, "metrics=otlp:http://127.0.0.1:9,record=off," + CACHING + data)
            .reads(data)
            .run();

    assertThat(outcome.out()).isEqualTo(java(jdk).reads(data).run().out());
    assertThat(outcome.exit()).isZero();
    assertCached(outcome);
    assertThat(outcome.agentLines())
        .filteredOn(line -> line.contains("metrics="))
        .singleElement()
        .asString()
        .contains("does nothing more: java.lang.ClassFormatError");
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void overwritingTheJarDoesNotDisturbARunningJob(Path jdk) throws Exception {
    Path jar = Files.copy(Child.AGENT, work.resolve("agent.jar"));
    Path err = work.resolve("err");
    Process process =
        java(jdk).agent(jar, "record=off," + CACHING + data).reads(data, "wait", "more").start(err);
    try {
      BufferedReader reader = process.inputReader(StandardCharsets.UTF_8);
      StringBuilder out = new StringBuilder(untilReady(reader));
      Files.write(jar, new byte[(int) Files.size(jar)]);
      process.getOutputStream().close();
      reader.lines().forEach(line -> out.append(line).append('\n'));

      assertThat(process.waitFor()).as(Files.readString(err)).isZero();
      assertThat(out.toString()).isEqualTo(java(jdk).reads(data, "more").run().out());
    } finally {
      process.destroyForcibly();
    }
  }

  /** Returns the program's output until it prints that it is ready. */
  private static String untilReady(BufferedReader reader) throws IOException {
    StringBuilder out = new StringBuilder();
    for (String line = reader.readLine(); line != null; line = reader.readLine()) {
      if (line.equals("ready")) {
        return out.toString();
      }
      out.append(line).append('\n');
    }
    throw new AssertionError("The program ended before it was ready: " + out);
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aMissingDataSetIsNotAFault(Path jdk) throws Exception {
    Outcome outcome =
        java(jdk)
            .agent("record=off," + CACHING + work.resolve("none"))
            .reads(data, "threads")
            .run();

    assertSameAsPlain(jdk, outcome);
    assertThat(outcome.err()).doesNotContain("fault");
  }
}
