package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Hosts.Host;
import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.Jdk;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Training jobs on several hosts compute the same as one job without the agent. */
@Timeout(value = 30, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PartitionedJobsIT {
  private static final int ATTEMPTS = 3;
  private static final Pattern FAILED_REQUESTS = Pattern.compile("[1-9]\\d* failed \\(");
  private static final int HOSTS = 2;

  @ParameterizedTest(name = "{0}")
  @EnumSource(Framework.class)
  void jobsOnTwoHostsReadStorageOnceAndHaveTheSameLosses(Framework framework) throws Exception {
    Run run = run(framework);
    for (int more = 1; more < ATTEMPTS && run.hasFailedRequests(); more++) {
      run = run(framework); // After a failed request, a host reads from storage for a while.
    }
    assertThat(run.differenceOfReads).as("reads of storage; messages: %s", run.logs).isEmpty();
  }

  /**
   * What two jobs did.
   *
   * @param differenceOfReads how their reads differ from exactly one read of each file, by one of
   *     the hosts; empty if they do not
   */
  private record Run(String differenceOfReads, String logs) {
    boolean hasFailedRequests() {
      return FAILED_REQUESTS.matcher(logs).find();
    }
  }

  private static Run run(Framework framework) throws Exception {
    Jdk jdk = Workshop.newestJdk();
    Path directory = Workshop.empty("partition-" + framework);
    Path pictures = Pictures.all().directory();
    Finished plain = Job.plain(framework, jdk);
    ItemSet few = ItemSet.create(directory, 1);

    List<Reader> keepers = new ArrayList<>();
    StorageReads reads = new StorageReads(Map.of(), 0);
    List<String> logs = new ArrayList<>();
    try (Hosts hosts = new Hosts(directory, HOSTS, 64L << 20)) {
      try {
        List<Running> jobs = new ArrayList<>();
        for (Host host : hosts.all()) {
          Path own = host.copy(few.directory(), true);
          Path data = host.copy(pictures, true);
          String arguments = host.peerArguments(data) + ",cache.size=32m,peer.hosts=" + HOSTS;
          // Keeps the host's store alive until both jobs have ended.
          keepers.add(
              Reader.start(
                  host,
                  "keeper",
                  own,
                  few,
                  arguments,
                  new Reader.Plan(jdk, 1, 1, 0, Reader.PATIENT),
                  List.of()));
          Path trace = host.directory().resolve("job.trace");
          Job job =
              new Job(
                      framework,
                      jdk,
                      host.directory(),
                      "job" + host.number(),
                      new Pictures(data),
                      Job.EPOCHS)
                  .wrapper(host.command())
                  .wrapper(StorageReads.trace(trace))
                  .jvmArgs("-Dcoordl.peer.patience=" + Reader.PATIENT)
                  .agent(arguments);
          jobs.add(Running.start(job));
        }
        try {
          for (Running job : jobs) {
            Finished finished = job.await();
            finished.result().orFail("A job on several hosts");
            assertThat(finished.differenceFrom(plain)).isEmpty();
            assertThat(finished.agentLines()).noneMatch(line -> line.contains("fault"));
            logs.addAll(finished.agentLines());
          }
        } finally {
          jobs.forEach(Running::close);
        }
        for (Reader keeper : keepers) {
          keeper.requestStop();
          keeper.awaitSuccess();
        }
        for (Host host : hosts.all()) {
          Path data = host.directory().resolve(pictures.getFileName());
          reads = reads.plus(StorageReads.of(host.directory().resolve("job.trace"), data));
        }
      } finally {
        keepers.forEach(Reader::close);
      }
    }
    Map<String, Integer> once = new TreeMap<>();
    for (Path file : Pictures.all().files()) {
      once.put(pictures.relativize(file).toString(), 1);
    }
    return new Run(reads.differenceFrom(pictures, once), String.join("\n", logs));
  }
}
