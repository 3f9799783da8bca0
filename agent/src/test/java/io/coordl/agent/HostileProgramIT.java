package io.coordl.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.agent.Child.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A hostile program behaves the same in every mode of the agent as without it. */
final class HostileProgramIT {
  private static final int STEPS = Child.FULL ? 1500 : 700;

  /** Modes in which the program must see no difference. {@code DATA} is its directory. */
  private static final List<String> MODES =
      List.of(
          "record=off",
          "cache=minio,cache.size=64m,dataset=DATA",
          "cache=minio,cache.size=2m,dataset=DATA",
          "cache=minio,cache.size=64m,cache.scope=host,dataset=DATA",
          "cache=minio,cache.size=32m,decoded=share,decoded.size=32m,dataset=DATA",
          "cache=minio,cache.size=64m,prefetch=2,dataset=DATA");

  @TempDir Path work;

  static List<Path> jdks() throws IOException {
    return Child.jdks();
  }

  private Outcome run(Path jdk, String mode, long seed) throws Exception {
    Path data = Files.createDirectory(work.resolve("data"));
    Child child = Child.java(jdk, work);
    if (!mode.isEmpty()) {
      child.agent(mode.replace("DATA", data.toString()) + ",group=" + UUID.randomUUID());
    }
    try {
      return child.program("program.Hostile", data.toString(), seed + "", STEPS + "").run();
    } finally {
      try (Stream<Path> files = Files.list(data)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(data);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theProgramBehavesTheSameInEveryMode(Path jdk) throws Exception {
    long seed = jdk.hashCode();
    System.out.println("seed " + seed);
    Outcome plain = run(jdk, "", seed);
    assertThat(plain.exit()).isEqualTo(1);
    assertThat(plain.out()).contains("rest ", "ClosedByInterruptException", "child 0", "uncaught");
    // By default, the other JDKs run only some modes.
    boolean all = Child.FULL || jdk.equals(jdks().get(0));
    for (String mode : all ? MODES : MODES.subList(3, 5)) {
      Outcome outcome = run(jdk, mode, seed);
      assertThat(outcome.out()).as(mode).isEqualTo(plain.out());
      assertThat(outcome.exit()).as(mode).isEqualTo(1);
      assertThat(outcome.err()).as(mode).doesNotContain("fault");
    }
  }

  /** Otherwise comparing runs would prove nothing. */
  @Test
  void twoPlainRunsPrintTheSame() throws Exception {
    Path jdk = jdks().get(0);
    assertThat(run(jdk, "", 7).out()).isEqualTo(run(jdk, "", 7).out());
  }
}
