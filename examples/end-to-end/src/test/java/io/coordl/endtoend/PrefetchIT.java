package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.benchmarks.Jdk;
import io.coordl.endtoend.Job.Finished;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * With prefetch=N items and batches are prepared ahead, and every batch and loss keeps its bits.
 */
class PrefetchIT {
  private static final Pattern AHEAD =
      Pattern.compile(
          "prefetch: (\\d+) items brought ahead; (\\d+) batches prepared ahead, (\\d+) of them"
              + " used");

  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#frameworksAndJdks")
  void everyBatchAndLossIsTheSame(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("prefetch-" + framework + "-" + jdk.version());
    Finished plain = new Job(framework, jdk, directory, "plain").runWell();
    List<String> policies =
        List.of(
            "decoded=share,prefetch=1",
            "decoded=share,prefetch=2",
            "cache=minio,prefetch=2",
            "cache=minio,decoded=share,prefetch=3");
    for (String policy : policies) {
      Finished ahead =
          new Job(framework, jdk, directory, policy.replace(',', '-')).agent(policy).runWell();
      assertThat(ahead.differenceFrom(plain)).as(policy).isEmpty();
      assertThat(figure(ahead, 1)).as(policy).isPositive();
    }
  }

  private static long figure(Finished job, int group) {
    for (String line : job.agentLines()) {
      Matcher matcher = AHEAD.matcher(line);
      if (matcher.matches()) {
        return Long.parseLong(matcher.group(group));
      }
    }
    throw new AssertionError("No line of the agent is " + AHEAD + ":\n" + job.result().err());
  }
}
