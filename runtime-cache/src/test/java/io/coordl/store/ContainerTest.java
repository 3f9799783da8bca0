package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A JVM with 100 MiB of heap that uses 440 MiB of native memory survives in a real cgroup (version
 * 1) of 600 MiB. It must also survive there with a store of automatic size.
 */
class ContainerTest {
  private static final long LIMIT = 600 << 20;
  private static final int KILLED = 137;

  private @Nullable Path group;

  private record Outcome(int exit, String output) {
    long number(String name) {
      Matcher matcher = Pattern.compile("\\b" + name + " (\\d+)").matcher(output);
      assertThat(matcher.find()).as(name + " in the output: " + output).isTrue();
      return Long.parseLong(matcher.group(1));
    }
  }

  @BeforeEach
  void makeGroup() throws IOException {
    String why = "no control group of version 1 can be created here: ";
    try {
      String own =
          Files.readAllLines(Path.of("/proc/self/cgroup")).stream()
              .filter(line -> line.contains(":memory:"))
              .findFirst()
              .orElseThrow(() -> new IOException("the kernel limits memory with version 2"));
      Path parent = Path.of("/sys/fs/cgroup/memory" + own.split(":", 3)[2]);
      group = Files.createDirectory(parent.resolve("coordl-" + ProcessHandle.current().pid()));
      Files.writeString(group.resolve("memory.limit_in_bytes"), Long.toString(LIMIT));
    } catch (IOException e) {
      System.out.println("skipped: " + why + e.getMessage());
      Assumptions.abort(why + e.getMessage());
    }
  }

  @AfterEach
  void removeGroup() throws IOException {
    if (group != null) {
      Files.deleteIfExists(group);
    }
  }

  private Outcome run(String budget, String trained, String seconds, int views) throws Exception {
    Process job =
        new ProcessBuilder(
                "sh",
                "-c",
                "echo $$ > $0/cgroup.procs && exec \"$@\"",
                String.valueOf(group),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx100m",
                "-XX:MaxDirectMemorySize=1g",
                "-cp",
                System.getProperty("java.class.path"),
                ContainerJob.class.getName(),
                budget,
                trained,
                "440",
                seconds,
                Integer.toString(views))
            .redirectErrorStream(true)
            .start();
    String output = new String(job.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Outcome(job.waitFor(), output);
  }

  private static void assertWell(Outcome outcome) {
    assertThat(outcome.exit()).as(outcome.output()).isZero();
    assertThat(outcome.number("taken")).isEqualTo(440);
    assertThat(outcome.number("hits")).isPositive();
    assertThat(outcome.number("wrong")).as(outcome.output()).isZero();
  }

  @Test
  void untilATrainingEpochEndsThereIsRoomForASuddenPeak() throws Exception {
    Outcome outcome = run("auto", "untrained", "0.1", 0);
    assertWell(outcome);
    assertThat(outcome.number("held")).isBetween(10L, 30L);
  }

  /** Even while the program retains views all over the store, as with mapped files. */
  @Test
  void afterTrainingMemoryIsGivenBackWithinSecondsOfGrowth() throws Exception {
    Outcome outcome = run("auto", "trained", "10", 5);
    assertWell(outcome);
    assertThat(outcome.number("held")).as(outcome.output()).isGreaterThan(100);
    assertThat(outcome.number("given back")).as(outcome.output()).isPositive();
    assertThat(outcome.output()).contains("Memory is short");
  }

  /** Proves that exceeding the limit kills the JVM, and that an explicit budget is not reduced. */
  @Test
  void anExplicitBudgetIsAlwaysKept() throws Exception {
    Outcome outcome = run("160m", "trained", "1", 0);
    assertThat(outcome.number("held")).isGreaterThan(130);
    assertThat(outcome.exit()).as(outcome.output()).isEqualTo(KILLED);
  }
}
