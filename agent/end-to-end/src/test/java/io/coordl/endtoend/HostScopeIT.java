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

/** Jobs on one host share a store: each file is read once, and killed jobs harm no other. */
class HostScopeIT {
  private static final int UNTIL_KILLED = 1_000_000;
  private static final int KILLS = 6;
  private static final int SIGTERM_STATUS = 128 + 15;
  private static final int SIGKILL_STATUS = 128 + 9;

  private final String group = "e2e-" + UUID.randomUUID();

  /** With -Pfull, BitIdentityIT also covers a shared store, with each library. */
  @ParameterizedTest(name = "{0} on {1}")
  @MethodSource("io.coordl.endtoend.Workshop#oneFrameworkAndJdks")
  void twoConcurrentJobsReadEachFileOnce(Framework framework, Jdk jdk)
      throws IOException, InterruptedException {
    Path directory = Workshop.empty("pair-" + framework + "-" + jdk.version());
    int files = Pictures.all().files().size();
    Finished plain = Job.plain(framework, jdk);

    // A third job, on its own four pictures, keeps the store alive throughout. Otherwise, on a busy
    // machine one job may end before the other starts, and there would be two stores.
    Pictures few = Pictures.all().copyTo(directory.resolve("few"), 1);
    Job third = new Job(framework, jdk, directory, "third", few, UNTIL_KILLED).agent(shared());
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
  void jobsKilledAtRandomPointsHarmNoOtherJob(Jdk jdk) throws IOException, InterruptedException {
    Assumptions.assumeTrue(
        Workshop.FULL, "runs only with -Pfull; without it, SharedJobsIT kills jobs");
    Path directory = Workshop.empty("kills-" + jdk.version());
    Pictures theirs = Pictures.all().copyTo(directory.resolve("theirs"), 24);
    Job survivor =
        new Job(Framework.DL4J, jdk, directory, "survivor", Pictures.all(), UNTIL_KILLED)
            .agent(shared());
    int epochs;
    Job successor = new Job(Framework.DL4J, jdk, directory, "successor", theirs, 1).agent(shared());
    try (Running other = Running.start(survivor)) {
      other.awaitEpoch();
      long seed = System.nanoTime();
      System.out.println("kills at random points on " + jdk + ", seed " + seed);
      startAndKill(jdk, directory, theirs, other, new Random(seed));

      // A later job finds each item of the killed jobs either complete or not at all.
      try (Running after = Running.start(successor)) {
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
    Finished alone = new Job(Framework.DL4J, jdk, directory, "alone", theirs, 1).runWell();
    assertThat(BatchLogs.firstDifference(alone.log(), successor.log())).isEmpty();
  }

  /** Repeatedly starts and kills two jobs that read new items. */
  private void startAndKill(Jdk jdk, Path directory, Pictures theirs, Running other, Random random)
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
    return new Job(Framework.DL4J, jdk, directory, "victim" + number, pictures, UNTIL_KILLED)
        .agent(shared());
  }

  private void killSoon(Running victim, Random random) throws IOException, InterruptedException {
    victim.awaitMapped(segment());
    // Not for synchronisation: picks a random moment to kill.
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
