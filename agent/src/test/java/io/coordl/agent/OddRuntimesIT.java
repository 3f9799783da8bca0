package io.coordl.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.coordl.agent.Child.Outcome;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * On JVMs with a security manager, stopped threads, missing modules, an AOT cache or a replaced
 * agent jar, the program behaves as without the agent.
 */
final class OddRuntimesIT {
  private static final String CACHING = "record=off,status=off,cache=minio,cache.size=10m,dataset=";

  /** The last JDK on which both a security manager and Thread.stop work. */
  private static final int LAST_OLD = 19;

  private static final int STOPS = Boolean.getBoolean("coordl.full") ? 400 : 100;

  @TempDir static Path data;
  @TempDir Path work;

  @BeforeAll
  static void makeData() throws IOException {
    for (int i = 0; i < 3; i++) {
      Files.write(data.resolve("item-" + i), new byte[5_000 + i]);
    }
  }

  static List<Path> jdks(TestInfo test) throws IOException {
    return Child.jdks(test);
  }

  /** Returns an installed JDK up to {@link #LAST_OLD}; skips the test if there is none. */
  private static Optional<Path> oldJdk() throws IOException {
    Optional<Path> old = Optional.empty();
    for (Path jdk : Child.jdks()) {
      String release = Files.readString(jdk.resolve("release"));
      if (release
          .lines()
          .anyMatch(line -> line.matches("JAVA_VERSION=\"1[0-" + LAST_OLD % 10 + "].*"))) {
        old = Optional.of(jdk);
      }
    }
    assumeThat(old).as("no JDK 17 to 19, whose security manager and Thread.stop work").isPresent();
    return old;
  }

  private Child guarded(String policy) throws IOException {
    Path file = Files.writeString(work.resolve("policy"), policy);
    return Child.java(oldJdk().orElseThrow(), work)
        .with("-Djava.security.manager", "-Djava.security.policy==" + file);
  }

  private String mayRead() {
    return "permission java.io.FilePermission \""
        + data
        + "\", \"read\";"
        + "permission java.io.FilePermission \""
        + data
        + "/-\", \"read\";";
  }

  private static String grantAgent(String permissions) {
    return "grant codeBase \"file:" + Child.AGENT + "\" { " + permissions + " };\n";
  }

  /**
   * The process that writes the cache loads no agent, so it needs the boot class path as an
   * argument.
   */
  @Test
  void anAotCacheMadeWithTheAgentIsAccepted() throws Exception {
    Path jdk = Child.jdks().get(Child.jdks().size() - 1);
    assumeThat(Runtime.Version.parse(version(jdk)).feature())
        .as("-XX:AOTCacheOutput came with JDK 25")
        .isGreaterThanOrEqualTo(25);
    Path program = work.resolve("program.jar");
    assertThat(
            Child.tool(jdk, "jar", work)
                .with("cf", program.toString(), "-C", "" + Child.PROGRAMS, "program/ReadsOne.class")
                .run()
                .exit())
        .isZero();
    String item = data.resolve("item-0").toString();

    Outcome making =
        Child.tool(jdk, "java", work)
            .environment("JDK_AOT_VM_OPTIONS", "-Xbootclasspath/a:" + Child.AGENT)
            .with("-XX:AOTCacheOutput=app.aot")
            .agent("record=off," + CACHING + data)
            .with("-cp", program.toString(), "program.ReadsOne", item)
            .run();
    Outcome outcome =
        Child.tool(jdk, "java", work)
            .with("-XX:AOTCache=app.aot", "-XX:AOTMode=on")
            .agent("record=off," + CACHING + data)
            .with("-cp", program.toString(), "program.ReadsOne", item)
            .run();

    assertThat(work.resolve("app.aot")).as(making.out() + making.err()).isNotEmptyFile();
    assertThat(outcome.exit()).as(outcome.err()).isZero();
    assertThat(outcome.out()).isEqualTo("5000\n");
    assertThat(outcome.err()).contains("raw cache (process): 1 items");
  }

  private static String version(Path jdk) throws IOException {
    return Files.readString(jdk.resolve("release"))
        .lines()
        .filter(line -> line.startsWith("JAVA_VERSION="))
        .map(line -> line.replaceAll(".*=\"|\".*", ""))
        .findFirst()
        .orElseThrow();
  }

  /** The boot loader's classes need no grant. */
  @Test
  void anAgentWithoutAGrantServesAProgramThatMayOnlyReadItsData() throws Exception {
    String policy = "grant { " + mayRead() + " };\n";
    Outcome plain = guarded(policy).reads(data).run();
    assertThat(plain.exit()).as(plain.err()).isZero();

    Outcome cached = guarded(policy).agent(CACHING + data).reads(data).run();

    assertThat(cached.exit()).as(cached.err()).isZero();
    assertThat(cached.out()).isEqualTo(plain.out());
    assertThat(cached.err()).contains("15 hits, 3 misses, 0 not cached").doesNotContain("fault");
  }

  /** The system loader loads the renamed agent, because its manifest names another file. */
  @Test
  void aRenamedAgentWithoutPermissionsLeavesTheProgramAlone() throws Exception {
    String policy = "grant { " + mayRead() + " };\n";
    Path renamed = Files.copy(Child.AGENT, work.resolve("renamed.jar"));
    Outcome plain = guarded(policy).reads(data).run();
    assertThat(plain.exit()).as(plain.err()).isZero();

    Outcome outcome = guarded(policy).agent(renamed, CACHING + data).reads(data).run();

    assertThat(outcome.exit()).as(outcome.err()).isZero();
    assertThat(outcome.out()).isEqualTo(plain.out());
    assertThat(outcome.agentLines())
        .singleElement()
        .asString()
        .startsWith("[coordl] cannot start (java.security.AccessControlException: ")
        .endsWith(
            "; the program runs without it; grant coordl-agent.jar java.security.AllPermission");
  }

  @Test
  void aPrivilegedAgentServesAProgramThatMayOnlyReadItsData() throws Exception {
    String policy =
        grantAgent("permission java.security.AllPermission;") + "grant { " + mayRead() + " };\n";
    Outcome plain = guarded(policy).reads(data).run();
    assertThat(plain.exit()).as(plain.err()).isZero();

    Outcome observed = guarded(policy).agent("").reads(data).run();
    Outcome cached = guarded(policy).agent(CACHING + data).reads(data).run();

    assertThat(observed.exit()).as(observed.err()).isZero();
    assertThat(observed.out()).isEqualTo(plain.out());
    assertThat(cached.exit()).as(cached.err()).isZero();
    assertThat(cached.out()).isEqualTo(plain.out());
    assertThat(cached.err()).contains("15 hits, 3 misses, 0 not cached").doesNotContain("fault");
  }

  /** The agent's own permission to read files does not help a program that lacks it. */
  @Test
  void theAgentRefusesAFileThatTheProgramMayNotRead() throws Exception {
    String policy = grantAgent("permission java.security.AllPermission;");

    Outcome plain = guarded(policy).program("program.ReadsOne", data.resolve("item-0") + "").run();
    Outcome cached =
        guarded(policy)
            .agent(CACHING + data)
            .program("program.ReadsOne", data.resolve("item-0") + "")
            .run();

    assertThat(plain.out()).contains("AccessControlException");
    assertThat(cached.out()).isEqualTo(plain.out());
  }

  @Test
  void aJobEndsAfterItsReadersWereStopped() throws Exception {
    Outcome outcome =
        Child.java(oldJdk().orElseThrow(), work)
            .agent(CACHING + data)
            .program("program.Stopped", data.toString(), STOPS + "")
            .run();

    assertThat(outcome.out()).isEqualTo("ended\n");
    assertThat(outcome.exit()).as("exit code; output: %s", outcome.err()).isZero();
    assertThat(outcome.err()).contains("raw cache (process): 3 items");
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aReplacedJarIsReportedOnce(Path jdk) throws Exception {
    Path jar = Files.copy(Child.AGENT, work.resolve("agent.jar"));
    Path err = work.resolve("err");
    Process process =
        Child.java(jdk, work).agent(jar, CACHING + data).reads(data, "wait").start(err);
    try {
      BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
      String printed = out.readLine();
      while (printed != null && !printed.equals("ready")) {
        printed = out.readLine();
      }
      Files.write(jar, new byte[(int) Files.size(jar) - 1]);
      process.getOutputStream().close();
      Outcome outcome = Child.end(process, err);

      assertThat(outcome.exit()).as(outcome.err()).isZero();
      assertThat(outcome.agentLines())
          .filteredOn(line -> line.contains("replaced") || line.contains("fault"))
          .singleElement()
          .asString()
          .startsWith("[coordl] " + jar + " was replaced while this job was running: ");
    } finally {
      process.destroyForcibly();
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void missingModulesAreReportedOnce(Path jdk) throws Exception {
    Path small = runtime(jdk, "small", "java.base,java.instrument");
    Outcome plain = Child.java(small, work).reads(data).run();

    Outcome outcome = Child.java(small, work).agent(CACHING + data).reads(data).run();

    assertThat(outcome.exit()).as(outcome.err()).isZero();
    assertThat(outcome.out()).isEqualTo(plain.out());
    String missing = "java.management,jdk.jfr,jdk.management";
    assertThat(outcome.err())
        .isEqualTo(
            "[coordl] disabled: this Java runtime lacks "
                + missing
                + ". The program runs without the agent. Rebuild the runtime with jlink"
                + " --add-modules "
                + missing
                + ", or start java with --add-modules "
                + missing
                + ".\n");

    Path enough = runtime(jdk, "enough", "java.base,java.instrument," + missing);
    Outcome cached = Child.java(enough, work).agent(CACHING + data).reads(data).run();

    assertThat(cached.out()).isEqualTo(plain.out());
    assertThat(cached.err()).contains("15 hits, 3 misses, 0 not cached").doesNotContain("fault");
  }

  private Path runtime(Path jdk, String name, String modules) throws Exception {
    Path runtime = work.resolve(name);
    Outcome linked =
        Child.tool(jdk, "jlink", work)
            .with("--add-modules", modules, "--output", runtime.toString())
            .run();
    assertThat(linked.exit()).as(linked.out() + linked.err()).isZero();
    return runtime;
  }
}
