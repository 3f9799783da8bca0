package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Without the agent, with it, and with its cache, each batch and loss is bit for bit the same. */
class BitIdentityIT {
  private static final Pattern HITS = Pattern.compile("(\\d+) hits");

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#frameworksAndJdks")
  void everyBatchAndLossIsTheSameWithAndWithoutACache(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("bits-" + framework + "-" + jdk.version());
    Finished plain = Job.plain(framework, jdk);
    int files = Pictures.all().files().size();
    assertThat(plain.batches()).hasSize(Job.EPOCHS * files / 16).doesNotHaveDuplicates();

    Finished observed = new Job(framework, jdk, directory, "observed").agent("").runWell();
    assertThat(observed.differenceFrom(plain)).isEmpty();
    assertThat(observed.agentLines()).anyMatch(line -> line.contains(Job.EPOCHS + " epochs, "));

    Finished cached = new Job(framework, jdk, directory, "cached").agent("cache=minio").runWell();
    assertThat(cached.differenceFrom(plain)).isEmpty();
    int all = (Job.EPOCHS - 1) * files + framework.readAhead();
    assertThat(hits(cached)).isEqualTo(all);

    Finished half =
        new Job(framework, jdk, directory, "half")
            .agent("cache=minio,cache.size=" + Pictures.all().bytes() / 2)
            .runWell();
    assertThat(half.differenceFrom(plain)).isEmpty();
    assertThat(hits(half)).isGreaterThan(all / 3).isLessThan(2 * all / 3);

    if (Workshop.FULL) { // Otherwise HostScopeIT covers a shared store.
      Finished shared =
          new Job(framework, jdk, directory, "shared")
              .agent("cache=minio,cache.scope=host,cache.size=64m,group=" + UUID.randomUUID())
              .runWell();
      assertThat(shared.differenceFrom(plain)).isEmpty();
      assertThat(hits(shared)).isEqualTo(all);
    }
  }

  /** Without random crops, because DJL's threads share one random generator. */
  @ParameterizedTest(name = "DJL on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void batchesLoadedByThreadsAreTheSame(Jdk jdk) throws IOException, InterruptedException {
    Path directory = Workshop.empty("bits-threads-" + jdk.version());
    String[] threads = {"--threads", "2", "--augment", "false"};
    Finished plain = Job.plain(Framework.DJL, jdk, threads);
    Finished cached =
        new Job(Framework.DJL, jdk, directory, "cached")
            .args(threads)
            .agent("cache=minio")
            .runWell();
    assertThat(cached.differenceFrom(plain)).isEmpty();
    assertThat(hits(cached)).isEqualTo((Job.EPOCHS - 1) * Pictures.all().files().size());
  }

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void batchesOfAHandWrittenLoopAreTheSame(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("bits-hand-" + framework + "-" + jdk.version());
    Finished plain = Job.plain(framework, jdk, "--loop", "hand");
    Finished cached =
        new Job(framework, jdk, directory, "cached")
            .args("--loop", "hand")
            .agent("cache=minio")
            .runWell();
    assertThat(cached.differenceFrom(plain)).isEmpty();
    assertThat(hits(cached)).isPositive();
  }

  /** Returns the number of hits in the summary at exit. */
  private static int hits(Finished job) {
    for (String line : job.agentLines()) {
      Matcher matcher = HITS.matcher(line);
      if (matcher.find()) {
        return Integer.parseInt(matcher.group(1));
      }
    }
    throw new AssertionError("No line of the agent reports hits:\n" + job.result().err());
  }
}
