package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.host.Contents.Header;
import io.coordl.host.Machine;
import io.coordl.host.SharedFile;
import io.coordl.testing.Full;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs in separate JVMs share a store, and killing any of them harms no other. */
class SharedJobsIT {
  private static final Pattern RESULT =
      Pattern.compile("reads (\\d+) torn (\\d+) unserved (\\d+) corrupt (\\d+) items (\\d+)");

  private final List<Process> jobs = new ArrayList<>();
  private Path directory;

  @BeforeEach
  void makeDirectory() throws IOException {
    Path memory = Files.isDirectory(ArenaStore.SHARED_MEMORY) ? ArenaStore.SHARED_MEMORY : null;
    directory =
        memory == null
            ? Files.createTempDirectory("coordl-it")
            : Files.createTempDirectory(memory, "coordl-it");
  }

  @AfterEach
  void removeDirectory() throws Exception {
    for (Process job : jobs) {
      job.destroyForcibly().waitFor();
    }
    try (var files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }

  private Process job(String group, int items, int epochs, long seed, String... more)
      throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-cp",
                "target/classes:target/test-classes",
                JobMain.class.getName(),
                directory.toString(),
                group,
                Integer.toString(items),
                Integer.toString(epochs),
                Long.toString(seed)));
    command.addAll(List.of(more));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    jobs.add(process);
    return process;
  }

  private static BufferedReader output(Process job) {
    return job.inputReader(StandardCharsets.UTF_8);
  }

  private static void release(Process job) throws IOException {
    job.getOutputStream().write('\n');
    job.getOutputStream().flush();
  }

  @Test
  void joiningAStoreOfAnotherSizeIsLogged() throws Exception {
    Process maker = job("size", 1, 1, 1); // Creates a store of 256 MiB.
    assertThat(output(maker).readLine()).isEqualTo("joined");
    for (String budget : List.of("256m", "8m", "auto")) {
      List<String> logged = new ArrayList<>();
      ArenaStore.openHost(directory, "size", ByteBudget.parse(budget), logged::add).close();
      assertThat(logged).as(budget).hasSize(budget.equals("8m") ? 1 : 0);
      assertThat(logged).allMatch(line -> line.contains("268435456 bytes"));
    }
  }

  @Test
  void twoJobsReadEachItemOnceBetweenThem() throws Exception {
    int items = 1500;
    List<Process> both = List.of(job("pair", items, 2, 1), job("pair", items, 2, 2));
    List<BufferedReader> outputs = new ArrayList<>();
    for (Process one : both) {
      outputs.add(output(one));
    }
    for (BufferedReader output : outputs) {
      assertThat(output.readLine()).isEqualTo("joined");
    }
    for (Process one : both) {
      release(one);
    }
    int reads = 0;
    for (BufferedReader output : outputs) {
      Matcher result = RESULT.matcher(output.readLine());
      assertThat(result.matches()).isTrue();
      reads += Integer.parseInt(result.group(1));
      assertThat(result.group(2)).as("torn").isEqualTo("0");
      assertThat(result.group(3)).as("unserved").isEqualTo("0");
      assertThat(result.group(4)).as("corrupt").isEqualTo("0");
    }
    assertThat(reads).isEqualTo(items);
    assertThat(directory).isNotEmptyDirectory();
    for (Process one : both) {
      one.getOutputStream().close();
      assertThat(one.waitFor()).isZero();
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void killsLeaveNoTornReadAndNoStuckItem() throws Exception {
    int kills = Full.orTenth(200);
    int items = 6000;
    SplittableRandom random = new SplittableRandom(7);
    List<String> logged = new ArrayList<>();
    try (ArenaStore store = Items.openHost(directory, "kills", () -> 768 << 20, logged::add)) {
      for (int i = 0; i < 3000; i++) {
        store.fetch(Items.key(i), Items.length(i), Items.loader(i));
      }
      int victims = 3;
      List<Process> running = new ArrayList<>();
      for (int i = 0; i < victims; i++) {
        running.add(job("kills", items, 1000, i, "anywhere"));
      }
      for (int killed = 0; killed < kills; killed++) {
        Process victim = running.remove(0);
        boolean joining = killed % 8 == 0;
        if (!joining) {
          assertThat(output(victim).readLine()).isEqualTo("joined");
          release(victim);
        }
        running.add(job("kills", items, 1000, victims + killed, "anywhere"));
        LockSupport.parkNanos(random.nextLong(1_000_000, 30_000_000));
        victim.destroyForcibly();
        for (int i = 0; i < 20; i++) {
          long number = random.nextInt(items);
          var content = store.find(Items.key(number));
          if (content != null) {
            assertThat(Items.bytes(content)).isEqualTo(Items.content(number));
          }
        }
        assertThat(victim.waitFor()).as("killed, not ended by an error").isEqualTo(128 + 9);
      }
      for (Process last : running) {
        last.destroyForcibly().waitFor();
      }
      long before = store.items();
      store.forgetChecks();
      int admitted = 0;
      for (int i = 0; i < items; i++) {
        Fetched fetched = store.fetch(Items.key(i), Items.length(i), Items.loader(i));
        assertThat(fetched.outcome()).isIn(Outcome.HIT, Outcome.ADMITTED);
        admitted += fetched.outcome() == Outcome.ADMITTED ? 1 : 0;
        assertThat(Items.bytes(fetched.content())).isEqualTo(Items.content(i));
      }
      System.out.printf(
          "%d kills: %d items of killed jobs, %d read by the survivor, %d claims taken over,"
              + " %d bytes used%n",
          kills, items - admitted - 3000, admitted, store.takenOver.sum(), store.used());
      assertThat(before).isPositive();
      assertThat(store.corrupt.sum()).isZero();
      assertThat(store.jobs()).isEqualTo(1);
    }
    assertThat(directory).isEmptyDirectory();
    assertThat(logged).isEmpty();
  }

  @Test
  void leftoversOfAKilledLastJobAreDeletedByTheNextJobOfAnyGroup() throws Exception {
    Process last = job("left", 10, 1, 1);
    BufferedReader output = output(last);
    assertThat(output.readLine()).isEqualTo("joined");
    release(last);
    assertThat(output.readLine()).startsWith("reads 10");
    last.destroyForcibly().waitFor();
    assertThat(directory).isNotEmptyDirectory();
    List<String> logged = new ArrayList<>();
    Items.openHost(directory, "other", () -> 8 << 20, logged::add).close();
    assertThat(directory).isEmptyDirectory();
    assertThat(logged).hasSize(1).allMatch(line -> line.contains("left over"));
  }

  @Test
  void joiningTakesTheStoreAsItIsAndNeedsNoMemory() throws Exception {
    Process first = job("join", 10, 1, 1);
    assertThat(output(first).readLine()).isEqualTo("joined");
    try (ArenaStore store = Items.openHost(directory, "join", () -> 0, line -> {})) {
      assertThat(store.capacity()).isEqualTo(256 << 20);
      assertThat(store.jobs()).isEqualTo(2);
      first.destroyForcibly().waitFor();
      assertThat(store.jobs()).isEqualTo(1);
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aDamagedStoreInUseIsRefusedAndLeftAlone() throws Exception {
    Process user = job("used", 10, 1, 1);
    assertThat(output(user).readLine()).isEqualTo("joined");
    Path path = SharedFile.path(directory, Machine.user(), "used", ArenaContents.HERE);
    try (var file = new java.io.RandomAccessFile(path.toFile(), "rw")) {
      file.seek(Header.VERSION);
      file.writeLong(0);
    }
    assertThat(
            org.assertj.core.api.Assertions.catchThrowable(
                () -> Items.openHost(directory, "used", () -> 8 << 20, line -> {})))
        .hasMessageContaining("layout version")
        .hasMessageContaining("in use");
    assertThat(path).exists();
  }

  @Test
  void jobsThatStartAndEndTogetherLeaveNoFile() throws Exception {
    for (int round = 0; round < 5; round++) {
      List<Process> four = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Process one = job("rush", 5, 1, i);
        one.getOutputStream().close();
        four.add(one);
      }
      for (Process one : four) {
        assertThat(one.waitFor()).isZero();
      }
      assertThat(directory).isEmptyDirectory();
    }
  }
}
