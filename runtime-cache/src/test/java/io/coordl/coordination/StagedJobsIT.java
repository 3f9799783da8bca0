package io.coordl.coordination;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.Waits;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.testing.Full;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Jobs in separate JVMs prepare batches for each other, whatever happens to any of them. {@link
 * StagingJob}s run on the JDKs of this machine in rotation.
 */
class StagedJobsIT {
  private static final String CLASSES =
      System.getProperty("coordl.test.classes", "target/classes:target/test-classes");

  private static final int KILLS = Full.orTenth(100);
  private static final int STOPS = Full.orTenth(100);
  private static final int EARLY_EXITS = Full.orTenth(100);
  private static final int MORE_SERIES = 2;
  private static final int JOBS = 4;
  private static final int KILLED = 128 + 9;

  private final List<Job> running = new ArrayList<>();
  private List<Path> launchers;
  private Path memory;
  private Path logs;
  private int started;

  /** A job and what was done to it. */
  private static final class Job {
    private final Process process;
    private final Path log;
    private final String ending;
    private long from = System.nanoTime();
    private long stoppedUntil;
    private boolean killed;

    Job(Process process, Path log, String ending) {
      this.process = process;
      this.log = log;
      this.ending = ending;
    }
  }

  @BeforeEach
  void makeDirectories() throws IOException {
    Map<Integer, Path> jdks = Launchers.all();
    System.out.println("jobs run on JDKs " + jdks.keySet());
    launchers = List.copyOf(jdks.values());
    memory =
        Files.isDirectory(ArenaStore.SHARED_MEMORY)
            ? Files.createTempDirectory(ArenaStore.SHARED_MEMORY, "coordl-it")
            : Files.createTempDirectory("coordl-it");
    logs = Files.createTempDirectory("coordl-it-logs");
  }

  @AfterEach
  void removeDirectories() throws Exception {
    for (Job job : running) {
      job.process.destroyForcibly().waitFor();
    }
    for (Path directory : List.of(memory, logs)) {
      try (var files = Files.list(directory)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(directory);
    }
  }

  private Job start(long seed, int epochs, String ending, String... more) throws IOException {
    Path log = logs.resolve("job-" + ++started);
    List<String> command =
        new ArrayList<>(
            List.of(
                launchers.get(started % launchers.size()).toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-cp",
                CLASSES,
                StagingJob.class.getName(),
                memory.toString(),
                Long.toString(seed),
                Integer.toString(epochs),
                ending));
    command.addAll(List.of(more));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    Job job = new Job(process, log, ending);
    running.add(job);
    return job;
  }

  private static void signal(Job job, String name) throws Exception {
    new ProcessBuilder("kill", "-" + name, Long.toString(job.process.pid())).start().waitFor();
  }

  /** Totals from a job's log, every line of which has been checked. */
  private record Totals(int epochs, int early, int batches, int given) {
    Totals plus(Totals other) {
      return new Totals(
          epochs + other.epochs, early + other.early, batches + other.batches, given + other.given);
    }
  }

  private static Totals check(Job job) throws Exception {
    int status = job.process.waitFor();
    List<String> lines = Files.readAllLines(job.log, StandardCharsets.UTF_8);
    if (job.killed) {
      assertThat(status).as("%s", lines).isIn(KILLED, 0);
    } else {
      assertThat(status).as("%s", lines).isZero();
    }
    Totals totals = new Totals(0, job.ending.equals("exit") && !job.killed ? 1 : 0, 0, 0);
    for (String line : lines) {
      assertThat(line).doesNotStartWith("WRONG");
      String[] words = line.split(" ", -1);
      boolean whole = line.startsWith("epoch ") && words.length > 5;
      if (!whole) {
        continue;
      }
      int[] items =
          Arrays.stream(words, 5, words.length).mapToInt(Integer::parseInt).sorted().toArray();
      assertThat(items).as("%s: no item twice", line).doesNotHaveDuplicates();
      boolean early = items.length < StagingJob.ITEMS;
      assertThat(early)
          .as("%s: every item", line)
          .isIn(false, !job.ending.equals("end") || job.killed);
      totals =
          totals.plus(
              new Totals(
                  1,
                  early ? 1 : 0,
                  (items.length + StagingJob.BATCH - 1) / StagingJob.BATCH,
                  Integer.parseInt(words[3])));
    }
    if (!job.killed && job.ending.equals("end")) {
      assertThat(lines).contains("done");
    }
    return totals;
  }

  @Test
  void killsStopsAndEarlyExitsHarmNobodyElse() throws Exception {
    long seed = Long.getLong("coordl.seed", System.nanoTime());
    System.out.println("seed: -Dcoordl.seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    Totals all = series(random);
    // In a short series, the share of batches from the buffer depends on which jobs are hit.
    for (int more = 0; more < MORE_SERIES && all.given <= all.batches / 2; more++) {
      all = all.plus(series(random));
    }
    assertThat(all.given).as("seed %d", seed).isGreaterThan(all.batches / 2);
  }

  /** Kills and stops jobs at random while others exit early; checks their logs and leftovers. */
  private Totals series(SplittableRandom random) throws Exception {
    int kills = 0;
    int stops = 0;
    Totals all = new Totals(0, 0, 0, 0);
    while (kills < KILLS || stops < STOPS || all.early < EARLY_EXITS || !running.isEmpty()) {
      boolean over = kills >= KILLS && stops >= STOPS && all.early >= EARLY_EXITS;
      while (running.size() < JOBS && !over) {
        String ending = random.nextInt(3) == 0 ? "end" : random.nextInt(3) == 0 ? "exit" : "break";
        start(random.nextLong() >>> 1, 2 + random.nextInt(5), ending);
      }
      LockSupport.parkNanos(random.nextLong(1_000_000, 60_000_000));
      long now = System.nanoTime();
      for (Job job : List.copyOf(running)) {
        if (job.stoppedUntil != 0 && now - job.stoppedUntil > 0) {
          signal(job, "CONT");
          job.stoppedUntil = 0;
          job.from = now;
        }
        if (job.process.waitFor(0, TimeUnit.SECONDS)) {
          running.remove(job);
          all = all.plus(check(job));
        } else if (job.stoppedUntil == 0) {
          assertThat(now - job.from)
              .as("%s hangs, %s", job.log, Files.readString(job.log))
              .isLessThan(Waits.LONG.toNanos());
        }
      }
      if (running.isEmpty()) {
        continue;
      }
      Job victim = running.get(random.nextInt(running.size()));
      if (kills < KILLS && random.nextInt(4) == 0) {
        victim.killed = true;
        victim.process.destroyForcibly();
        kills++;
      } else if (stops < STOPS && victim.stoppedUntil == 0 && random.nextInt(3) == 0) {
        victim.stoppedUntil = now + random.nextLong(1_000_000, 1_500_000_000);
        signal(victim, "STOP");
        stops++;
      }
    }
    check(start(1, 1, "end")); // Deletes the files of the jobs killed last.
    running.clear();
    System.out.printf(
        "%d kills, %d stops, %d early exits, %d jobs: %d of %d batches from the buffer%n",
        kills, stops, all.early, started, all.given, all.batches);
    assertThat(memory).isEmptyDirectory();
    return all;
  }

  @Test
  void fourJobsPrepareEachBatchOnceBetweenThem() throws Exception {
    int epochs = 3;
    List<Job> four = new ArrayList<>();
    for (int i = 0; i < JOBS; i++) {
      four.add(start(i, epochs, "end", Integer.toString(JOBS)));
    }
    int prepared = 0;
    for (Job job : four) {
      Totals totals = check(job);
      assertThat(totals.batches()).isEqualTo(epochs * StagingJob.ITEMS / StagingJob.BATCH);
      assertThat(totals.given()).isEqualTo(totals.batches());
      for (String line : Files.readAllLines(job.log, StandardCharsets.UTF_8)) {
        if (line.startsWith("prepared ")) {
          prepared += Integer.parseInt(line.split(" ", -1)[1]);
        }
      }
    }
    assertThat(prepared).isEqualTo(epochs * StagingJob.ITEMS / StagingJob.BATCH);
    assertThat(memory).isEmptyDirectory();
  }

  @Test
  void aDifferentPipelineIsLoggedWithWhatDiffers() throws Exception {
    Job other = start(1, 10_000, "end");
    List<String> logged = new CopyOnWriteArrayList<>();
    try (PrepGroup group =
        new PrepGroup(memory, "torture", ByteBudget.parse("64k"), 1, logged::add)) {
      long deadline = System.nanoTime() + Waits.LONG.toNanos();
      while (logged.isEmpty() && System.nanoTime() < deadline) { // Until the other job has joined.
        SharedEpoch epoch =
            group.begin(
                new Fingerprint(Map.of("data set", "another")),
                Batches.order(StagingJob.ITEMS, StagingJob.BATCH, 1));
        epoch.end();
        LockSupport.parkNanos(10_000_000);
      }
    }
    other.process.destroyForcibly().waitFor();
    assertThat(logged)
        .singleElement()
        .asString()
        .contains("it differs in its data set: another, not synthetic");
  }

  /** Starts a {@link HandedJob}. */
  private Process startHanded(Path log, String what, String budget) throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                CLASSES,
                HandedJob.class.getName(),
                memory.toString(),
                what,
                budget)
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    running.add(new Job(process, log, "end"));
    return process;
  }

  private static void awaitLine(Process process, Path log, String line) throws IOException {
    while (!Files.readAllLines(log, StandardCharsets.UTF_8).contains(line)) {
      assertThat(process.isAlive()).as("%s", Files.readAllLines(log)).isTrue();
      LockSupport.parkNanos(1_000_000);
    }
  }

  private static void resume(Process process) throws IOException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
  }

  private static List<String> endOf(Process process, Path log) throws Exception {
    int status = process.waitFor();
    List<String> lines = Files.readAllLines(log, StandardCharsets.UTF_8);
    assertThat(status).as("%s", lines).isZero();
    assertThat(lines).endsWith("done").noneMatch(line -> line.startsWith("WRONG"));
    return lines;
  }

  /** SIGSTOP also stops the agent's threads. */
  @Test
  void aStoppedJobsClaimIsTakenOverAndItsLatePublishIsHarmless() throws Exception {
    Path log = logs.resolve("claims");
    String budget = "256k"; // A slot for each batch.
    Process process = startHanded(log, "claims", budget);
    awaitLine(process, log, "claimed");
    Job job = running.get(0);
    String all = "given " + StagingJob.ITEMS / StagingJob.BATCH;
    try (PrepGroup group = HandedJob.group(memory, budget, 1)) {
      signal(job, "STOP");
      assertThat(HandedJob.goesThrough(group, HandedJob.TRAINING, 3)).isEqualTo(all);
      assertThat(group.statistics().get(0).takeOvers).isEqualTo(1);
      signal(job, "CONT");
      resume(process);
      List<String> lines = endOf(process, log);
      assertThat(lines).contains("too late 1 alone 0").contains(all, all);
    }
    assertThat(memory).isEmptyDirectory();
  }

  /**
   * A job that waits in one pipeline is not waited for in the other, even with unlimited patience.
   */
  @Test
  void jobsThatWaitForEachOtherInTwoPipelinesContinue() throws Exception {
    String budget = "24k"; // Three slots for an epoch's fifteen batches.
    Path trains = logs.resolve("trains");
    Path validates = logs.resolve("validates");
    List<Process> both =
        List.of(startHanded(trains, "trains", budget), startHanded(validates, "validates", budget));
    for (Process process : both) {
      assertThat(process.waitFor(Waits.LONG.toSeconds(), TimeUnit.SECONDS)).as("ends").isTrue();
    }
    endOf(both.get(0), trains);
    endOf(both.get(1), validates);
    assertThat(memory).isEmptyDirectory();
  }
}
