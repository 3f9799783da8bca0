package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Training jobs on hosts that share a Redis server compute the same as one job without the agent.
 * The jobs run one after the other, each with its own copy of the data set and its own store, as on
 * separate hosts.
 */
class RedisJobsIT {
  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#frameworksAndJdks")
  void theSecondHostGetsTheFirstHostsItemsFromRedis(Framework framework, Jdk jdk) throws Exception {
    Assumptions.assumeTrue(
        Workshop.FULL, "runs only with -Pfull; without it, RedisFromTheJarIT uses a real server");
    Path directory = Workshop.empty("redis-" + framework + "-" + jdk.version());
    Path pictures = Pictures.all().directory();
    Finished plain = Job.plain(framework, jdk);
    Map<String, Integer> once = new TreeMap<>();
    for (Path file : Pictures.all().files()) {
      once.put(pictures.relativize(file).toString(), 1);
    }

    try (Redis redis = Redis.start(directory)) {
      assertThat(reads("first", framework, jdk, directory, redis, plain, "peerItems", 0))
          .satisfies(reads -> assertThat(reads.differenceFrom(pictures, once)).isEmpty());
      int items = once.size();
      assertThat(reads("second", framework, jdk, directory, redis, plain, "peerItems", items))
          .satisfies(reads -> assertThat(reads.differenceFrom(pictures, Map.of())).isEmpty());
    }
  }

  /** Runs a job on its own copy of the data set and returns its reads. */
  private static StorageReads reads(
      String name,
      Framework framework,
      Jdk jdk,
      Path directory,
      Redis redis,
      Finished plain,
      String total,
      int expected)
      throws IOException, InterruptedException {
    Path own = Files.createDirectories(directory.resolve(name));
    Path data = own.resolve("data");
    Shell.run("cp", "-rp", Pictures.all().directory().toString(), data.toString());
    Path trace = own.resolve("trace");
    Job job =
        new Job(framework, jdk, own, name, new Pictures(data), Job.EPOCHS)
            .wrapper(StorageReads.trace(trace))
            .jvmArgs("-Dcoordl.peer.patience=" + Reader.PATIENT)
            .agent(
                "dataset.root="
                    + data
                    + ",dataset.identity=copy,cache=minio,cache.size=32m,group="
                    + directory.getFileName()
                    + ",peer="
                    + redis.uri());
    Finished finished = job.runWell();
    assertThat(finished.differenceFrom(plain)).isEmpty();
    assertThat(finished.agentLines()).noneMatch(line -> line.contains("fault"));
    assertThat(Summary.of(finished.recording()).total(total)).isEqualTo(expected);
    return StorageReads.of(trace, data);
  }
}
