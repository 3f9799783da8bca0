package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Jobs without {@code /proc} and {@code /dev/shm}, as on macOS: they cache and prefetch, and if the
 * arguments request sharing with other jobs, one line reports that this needs Linux.
 */
class OtherSystemIT {
  private static final String WITHOUT =
      "mount -t tmpfs tmpfs /dev && mknod /dev/null c 1 3 && mknod /dev/random c 1 8"
          + " && mknod /dev/urandom c 1 9 && mount -t tmpfs -o ro tmpfs /proc";

  /**
   * Returns the command prefix that hides /proc and /dev/shm. The JVM gets the path of its
   * libraries, which it otherwise finds through /proc.
   */
  private static List<String> wrapper(Jdk jdk) {
    String libraries = "export LD_LIBRARY_PATH=" + jdk.home().resolve("lib");
    return List.of(
        "unshare",
        "--mount",
        "/bin/sh",
        "-c",
        WITHOUT + " && " + libraries + " && exec \"$@\"",
        "sh");
  }

  private static Finished run(Framework framework, Jdk jdk, Path directory, String arguments)
      throws IOException, InterruptedException {
    String name = arguments.isEmpty() ? "plain" : arguments.replaceAll("\\W+", "-");
    Job job = new Job(framework, jdk, directory, name).wrapper(wrapper(jdk));
    return (arguments.isEmpty() ? job : job.agent("summary=off," + arguments)).runWell();
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void withoutLinuxCachesWorkAndTheLackOfSharingIsReported(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Assumptions.assumeTrue(
        Shell.works("unshare", "--mount", "/bin/sh", "-c", WITHOUT),
        "/proc and /dev cannot be hidden here (needs root)");
    Path directory = Workshop.empty("other-" + framework + "-" + jdk.version());
    Finished plain = run(framework, jdk, directory, "");

    String prepared = framework == Framework.DJL ? "prepared=share" : "decoded=share";
    for (String arguments : Workshop.first(1, List.of(prepared + ",prefetch=2", "cache=minio"))) {
      Finished job = run(framework, jdk, directory, arguments);
      assertSameAsPlain(
          job, plain, "/dev/shm has room for only 0 bytes: the cache uses direct buffers");
      assertThat(Summary.of(job.recording()).store("hits")).as(arguments).isPositive();
    }
    for (String arguments :
        Workshop.first(1, List.of("cache=minio,cache.scope=host", "prep=coordinate"))) {
      assertSameAsPlain(
          run(framework, jdk, directory, arguments),
          plain,
          "Sharing between jobs needs Linux, and there is no /proc here.");
    }
  }

  /** Asserts that the job trains as without the agent, and that the agent prints only this line. */
  private static void assertSameAsPlain(Finished job, Finished plain, String line)
      throws IOException {
    assertThat(job.differenceFrom(plain)).as(job.log().toString()).isEmpty();
    assertThat(job.agentLines()).singleElement().asString().contains(line);
  }
}
