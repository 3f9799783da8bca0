package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A program that fits into a container of 600 MiB also fits with a cache: it reads 150 MiB twice
 * and then allocates 440 MiB of native memory in addition to 100 MiB of heap. The container is a
 * real control group (version 1).
 */
class ContainerIT {
  private static final long LIMIT = 600 << 20;
  private static final int KILLED = 137;
  private static final int FILES = 150;

  private @Nullable Path group;

  @BeforeEach
  void makeGroup() throws IOException {
    try {
      String own =
          Files.readAllLines(Path.of("/proc/self/cgroup")).stream()
              .filter(line -> line.contains(":memory:"))
              .map(line -> line.split(":", 3)[2])
              .findFirst()
              .orElseThrow(() -> new IOException("memory is limited by version 2"));
      Path parent = Path.of("/sys/fs/cgroup/memory" + own);
      group = Files.createDirectory(parent.resolve("coordl-it-" + ProcessHandle.current().pid()));
      Files.writeString(group.resolve("memory.limit_in_bytes"), Long.toString(LIMIT));
    } catch (IOException e) {
      String why = "no control group of version 1 can be created here: " + e.getMessage();
      System.out.println("skipped: " + why);
      Assumptions.abort(why);
    }
  }

  @AfterEach
  void removeGroup() throws IOException {
    if (group != null) {
      Files.deleteIfExists(group);
    }
  }

  private static Path data() throws IOException {
    Path data = Workshop.directory("container-data");
    byte[] bytes = new byte[1 << 20];
    for (int i = 0; i < FILES; i++) {
      Path file = data.resolve("item-" + i);
      if (!Files.exists(file) || Files.size(file) != bytes.length) {
        new Random(i).nextBytes(bytes);
        Files.write(file, bytes);
      }
    }
    return data;
  }

  private ChildResult run(Jdk jdk, Path data, String arguments, String seconds)
      throws IOException, InterruptedException {
    Path directory = Workshop.directory("container");
    ChildJvm program =
        new ChildJvm(jdk, "example.reads.ReadThenAllocate")
            .classPath(Workshop.checkout().testPrograms())
            .jvmArgs("-Xmx100m", "-XX:MaxDirectMemorySize=1g")
            .environment("COORDL_OPTS", "")
            .timeout(Workshop.MAX_DURATION)
            .directory(directory)
            .wrapper(
                List.of(
                    "sh", "-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"", group.toString()))
            .args(data.toString(), "2", "440", seconds);
    if (!arguments.isEmpty()) {
      String recording = "record=" + directory.resolve("container.jfr");
      program.agent(
          Workshop.checkout().agentJar(), recording + ",dataset=" + data + "," + arguments);
    }
    return program.run();
  }

  @ParameterizedTest(name = "on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void aProgramThatFitsIntoAContainerAlsoFitsWithACache(Jdk jdk) throws Exception {
    Path data = data();
    ChildResult plain = run(jdk, data, "", "0.1").orFail("the program alone");
    for (String seconds : Workshop.first(1, List.of("0.1", "5"))) {
      ChildResult cached = run(jdk, data, "cache=minio", seconds);
      assertThat(cached.exit()).as(cached.toString()).isZero();
      assertThat(cached.out()).isEqualTo(plain.out());
    }
    // With a fixed budget that is too large, the kernel kills the program.
    ChildResult named = run(jdk, data, "cache=minio,cache.size=160m", "0.1");
    assertThat(named.exit()).as(named.toString()).isEqualTo(KILLED);
  }
}
