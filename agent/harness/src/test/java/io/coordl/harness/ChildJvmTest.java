package io.coordl.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ChildJvmTest {
  /** Prints, then ends or hangs, depending on its argument. */
  public static final class Child {
    public static void main(String[] args) throws InterruptedException {
      System.out.println("out " + System.getenv("MARK"));
      System.err.println("err " + System.getProperty("mark"));
      if (args[0].equals("hang")) {
        System.out.println(ProcessHandle.current().pid());
        Thread.sleep(Duration.ofHours(1).toMillis());
      }
      System.exit(Integer.parseInt(args[0]));
    }
  }

  @Test
  void outputExitStatusAndCpuTimeAreReturned() throws IOException, InterruptedException {
    List<String> echoed = Collections.synchronizedList(new ArrayList<>());
    ChildResult result = child("3").echo(echoed::add).run();
    assertThat(result.exit()).isEqualTo(3);
    assertThat(result.timedOut()).isFalse();
    assertThat(result.out()).isEqualTo("out of the environment\n");
    assertThat(result.err()).isEqualTo("err of a property\n");
    assertThat(result.cpuSeconds()).isPositive();
    assertThat(echoed).containsExactlyInAnyOrder("out of the environment", "err of a property");
  }

  @Test
  void aHangingChildPrintsItsThreadsAndIsKilled() throws IOException, InterruptedException {
    ChildResult result = child("hang").timeout(Duration.ofSeconds(3)).run();
    assertThat(result.timedOut()).isTrue();
    assertThat(result.exit()).isNotZero();
    assertThat(result.out()).contains("Full thread dump", "\"main\"", "Thread.sleep");
    assertThatThrownBy(() -> result.orFail("The child"))
        .hasMessageContaining("ran too long")
        .hasMessageContaining("Full thread dump");
    // The JVM is a child of the killed shell; it must have been killed, too.
    long pid = Long.parseLong(result.out().lines().skip(1).findFirst().orElseThrow());
    Optional<ProcessHandle> left = ProcessHandle.of(pid);
    if (left.isPresent()) {
      assertThat(left.get().onExit()).succeedsWithin(Duration.ofMinutes(10));
    }
  }

  @Test
  void theRunningJdkIsAmongAll() {
    assertThat(Jdks.all()).extracting(Jdk::feature).contains(Runtime.version().feature());
    assertThat(Jdks.all()).extracting(Jdk::home).doesNotHaveDuplicates();
  }

  private static ChildJvm child(String argument) {
    return new ChildJvm(Jdks.running(), Child.class.getName())
        .classPath(Path.of("target/test-classes"))
        .jvmArgs("-Dmark=of a property")
        .environment("MARK", "of the environment")
        .args(argument);
  }
}
