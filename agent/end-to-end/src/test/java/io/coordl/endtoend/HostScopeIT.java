package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.endtoend.Job.Finished;
import io.coordl.harness.BatchLogs;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Jobs of one host that share a store: what they save each other, and what they cannot break. */
class HostScopeIT {
  private static final int UNTIL_TOLD = 1_000_000;
  private static final int KILLS = 6;
  private static final int SIGTERM_STATUS = 128 + 15;
  private static final int SIGKILL_STATUS = 128 + 9;

  private final String group = "e2e-" + UUID.randomUUID();

  /** With -Pfull BitIdentityIT has a shared store on each library, too. */
  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void twoJobsAtTheSameTimeReadEachFileOnceBetweenThem(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("pair-" + framework + "-" + jdk.version());
    int files = Pictures.all().files().size();
    Finished plain = Job.plain(framework, jdk);

    // A third job, on four pictures of its own, keeps the store from the first to the last moment;
    // else a machine so busy that one job ends before the other begins would make two stores.
    Pictures few = Pictures.all().copyTo(directory.resolve("few"), 1);
    Job third = new Job(framework, jdk, directory, "third", few, UNTIL_TOLD).agent(shared());
    try (Running keeper = Running.start(third)) {
      keeper.awaitEpoch();
      keeper.signal("STOP");
      assertThat(segment()).exists();
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(segment())))
          .isEqualTo("rw-------");

      Job one = new Job(framework, jdk, directory, "one").agent(shared());
      Job two = new Job(framework, jdk, directory, "two").agent(shared());
      try (Running first = Running.start(one);
          Running second = Running.start(two)) {
        assertThat(first.await().differenceFrom(plain)).isEmpty();
        assertThat(second.await().differenceFrom(plain)).isEmpty();
      }
      Summary firsts = Summary.of(one.recording());
      Summary seconds = Summary.of(two.recording());
      assertThat(firsts.total("storageItems") + seconds.total("storageItems")).isEqualTo(files);
      assertThat(firsts.store("admitted") + seconds.store("admitted")).isEqualTo(files);
      assertThat(firsts.total("items")).isEqualTo(Job.EPOCHS * files + framework.readAhead());
      assertThat(seconds.total("items")).isEqualTo(firsts.total("items"));

      keeper.signal("TERM");
      keeper.signal("CONT");
      assertThat(keeper.await().result().exit()).isEqualTo(SIGTERM_STATUS);
    }
    assertThat(segment()).doesNotExist();
  }

  @ParameterizedTest(name = "DL4J on {0}")
  @MethodSource("io.coordl.endtoend.Workshop#jdks")
  void jobsKilledAtRandomPointsHarmNobody(Jdk jdk) throws IOException, InterruptedException {
    Assumptions.assumeTrue(Workshop.FULL, "with -Pfull only: else SharedJobsIT kills jobs");
    Path directory = Workshop.empty("kills-" + jdk.version());
    Pictures theirs = Pictures.all().copyTo(directory.resolve("theirs"), 24);
    Job survivor =
        new Job(Framework.DL4J, jdk, directory, "survivor", Pictures.all(), UNTIL_TOLD)
            .agent(shared());
    int epochs;
    Job heir = new Job(Framework.DL4J, jdk, directory, "heir", theirs, 1).agent(shared());
    try (Running other = Running.start(survivor)) {
      other.awaitEpoch();
      long seed = System.nanoTime();
      System.out.println("kills at random points on " + jdk + ", seed " + seed);
      killed(jdk, directory, theirs, other, new Random(seed));

      // Who comes after them finds what they left, whole or not at all.
      try (Running after = Running.start(heir)) {
        after.await().result().orFail("The job after the killed ones");
      }
      assertThat(segment()).exists();
      other.signal("TERM");
      Finished end = other.await();
      assertThat(end.result().exit()).isEqualTo(SIGTERM_STATUS);
      assertThat(end.agentLines()).noneMatch(line -> line.contains("fault"));
      epochs = completeEpochs(end);
    }
    assertThat(segment()).doesNotExist();

    Job plain = new Job(Framework.DL4J, jdk, directory, "plain", Pictures.all(), epochs);
    List<String> expected = plain.runWell().batches();
    assertThat(Files.readAllLines(survivor.log()).stream().filter(l -> l.startsWith("batch ")))
        .startsWith(expected.toArray(new String[0]));
    Finished sober = new Job(Framework.DL4J, jdk, directory, "sober", theirs, 1).runWell();
    assertThat(BatchLogs.firstDifference(sober.log(), heir.log())).isEmpty();
  }

  /** Starts and kills, two at a time, jobs that have new items to read each time. */
  private void killed(Jdk jdk, Path directory, Pictures theirs, Running other, Random random)
      throws IOException, InterruptedException {
    for (int kill = 0; kill < KILLS; kill += 2) {
      for (Path file : theirs.files()) {
        Files.setLastModifiedTime(
            file, FileTime.from(Instant.ofEpochSecond(1_000_000_000L + kill)));
      }
      try (Running one = Running.start(victim(jdk, directory, theirs, kill));
          Running two = Running.start(victim(jdk, directory, theirs, kill + 1))) {
        killSoon(one, random);
        killSoon(two, random);
      }
      other.awaitEpoch();
    }
  }

  private Job victim(Jdk jdk, Path directory, Pictures pictures, int number) throws IOException {
    return new Job(Framework.DL4J, jdk, directory, "victim" + number, pictures, UNTIL_TOLD)
        .agent(shared());
  }

  private void killSoon(Running victim, Random random) throws IOException, InterruptedException {
    victim.awaitMapped(segment());
    // Not to wait for anything: this makes the point a random one.
    LockSupport.parkNanos(random.nextLong(TimeUnit.MILLISECONDS.toNanos(600)));
    victim.signal("KILL");
    assertThat(victim.await().result().exit()).isEqualTo(SIGKILL_STATUS);
  }

  private static int completeEpochs(Finished job) throws IOException {
    return (int)
        Files.readAllLines(job.log()).stream().filter(line -> line.startsWith("epoch ")).count();
  }

  private String shared() {
    return "cache=minio,cache.scope=host,cache.size=256m,group=" + group;
  }

  private Path segment() throws IOException {
    Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    String own = "/dev/shm/coordl-" + user;
    return Path.of(own + "-0", "coordl-" + user + "-" + group + ".arena");
  }
}
