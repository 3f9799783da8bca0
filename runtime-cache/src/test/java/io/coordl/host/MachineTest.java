package io.coordl.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.JobStatisticsEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineTest {
  private static final long MIB = 1 << 20;

  @TempDir Path mount;

  @Test
  void processUsageIsParsedAfterTheCommandName() throws IOException {
    Path stat =
        Files.writeString(
            mount.resolve("stat"), "7 (a (b) 9 9) R 1 2 3 4 5 6 789 10 11 12 130 20 15 16 17\n");
    JobStatisticsEvent event = new JobStatisticsEvent();
    Machine.describe(event, stat);
    assertThat(event.pageFaults).isEqualTo(789);
    assertThat(event.userTime).isEqualTo(1_300_000_000);
    assertThat(event.kernelTime).isEqualTo(200_000_000);
    Machine.describe(event, mount.resolve("not there"));
    assertThat(event.pageFaults).as("unchanged").isEqualTo(789);
  }

  @Test
  void theTightestCgroup2Counts() throws IOException {
    Path membership = Files.writeString(mount.resolve("self"), "0::/a/b\n");
    group2(mount.resolve("a/b"), "max", 700, "");
    group2(mount.resolve("a"), "3200", 700, "inactive_file 200\n");
    assertThat(room(membership)).isEqualTo(new Machine.Room(3200, 2700, 200, true, 0, 0));
    assertThat(room(membership).spare()).isEqualTo(2600);
  }

  @Test
  void theTightestCgroup1Counts() throws IOException {
    Path membership = Files.writeString(mount.resolve("self"), "4:cpu:/\n3:memory:/docker/x\n");
    group1(mount.resolve("memory/docker/x"), 6400, 700, "");
    group1(mount.resolve("memory"), 3200, 900, "total_inactive_file 1\n");
    assertThat(room(membership)).isEqualTo(new Machine.Room(3200, 2301, 1, true, 0, 0));
  }

  @Test
  void aCgroupNameNeedNotBeText() throws Exception {
    String make = "mkdir -p \"$(printf 'memory/a/caf\\351 1+2/%%41')\"";
    String join = "printf '3:memory:/a/caf\\351 1+2/%%41\\n' > self";
    Process shell =
        new ProcessBuilder("bash", "-c", make + " && " + join).directory(mount.toFile()).start();
    assertThat(shell.waitFor()).isZero();
    Path strange;
    try (Stream<Path> all = Files.walk(mount.resolve("memory"))) {
      strange = all.filter(path -> path.endsWith("%41")).findFirst().orElseThrow().getParent();
    }
    group1(strange, 3200, 900, "");
    assertThat(room(mount.resolve("self"))).isEqualTo(new Machine.Room(3200, 2300, 0, true, 0, 0));
  }

  @Test
  void pageCacheIsNotCountedAsUsed() throws IOException {
    String stat = "total_cache 900\ntotal_inactive_file 300\ntotal_active_file 400\n";
    Path membership = Files.writeString(mount.resolve("self"), "3:memory:/x\n");
    group1(mount.resolve("memory/x"), 1000, 1000, stat);
    assertThat(room(membership).available()).isEqualTo(700);
    Files.writeString(membership, "0::/y\n");
    group2(mount.resolve("y"), "1000", 1000, stat.replace("total_", ""));
    assertThat(room(membership).available()).isEqualTo(700);
  }

  @Test
  void aBudgetThatFitsBesideTheHeapIsNotReduced() throws IOException {
    Path membership = Files.writeString(mount.resolve("self"), "0::/x\n");
    long used = 60 * MIB;
    long heapGrowth = 54 * MIB;
    for (long[] sizes : new long[][] {{334, 184}, {414, 264}, {492, 342}}) {
      long limit = sizes[0] * MIB;
      String stat = "active_file " + 2 * (limit - used) / 3 + "\n";
      stat += "inactive_file " + (limit - used) / 3 + "\n";
      group2(mount.resolve("x"), Long.toString(limit), limit, stat);
      Machine.Room room = room(membership);
      assertThat(room.spare() - heapGrowth).isGreaterThan(sizes[1] * MIB);
      // With the store and the fully grown heap, 36 MiB of the container stay free.
      group2(mount.resolve("x"), Long.toString(limit), used + heapGrowth + sizes[1] * MIB, "");
      assertThat(room(membership).isTight(false, 0)).isFalse();
      group2(mount.resolve("x"), Long.toString(limit), limit - 5 * MIB, "");
      assertThat(room(membership).isTight(false, 0)).isTrue();
    }
  }

  @Test
  void memoryStaysShortUntilTwiceTheReserveIsFree() {
    assertThat(new Machine.Room(3200, 99).isTight(false, 0)).isTrue();
    assertThat(new Machine.Room(3200, 100).isTight(false, 0)).isFalse();
    assertThat(new Machine.Room(3200, 199).isTight(true, 0)).isTrue();
    assertThat(new Machine.Room(3200, 200).isTight(true, 0)).isFalse();
    assertThat(new Machine.Room(3200, 299).isTight(true, 100)).isTrue();
  }

  @Test
  void theReserveIsAShareWithAnUpperBound() {
    assertThat(new Machine.Room(64L << 30, 1L << 30).spare()).isEqualTo(768 * MIB);
    assertThat(new Machine.Room(320 * MIB, 100 * MIB).spare()).isEqualTo(90 * MIB);
  }

  @Test
  void theHostsFreeMemoryCountsToo() throws IOException {
    Path meminfo =
        Files.writeString(mount.resolve("meminfo"), "MemTotal: 3200 kB\nMemAvailable: 300 kB\n");
    Path membership = Files.writeString(mount.resolve("self"), "0::/x\n");
    group2(mount.resolve("x"), "99999999", 0, "");
    assertThat(Machine.least(Machine.rooms(meminfo, mount.resolve("none"), membership, mount)))
        .isEqualTo(new Machine.Room(3200 << 10, 300 << 10, 0, false, 0, 0));
  }

  @Test
  void anAllocatedHeapIsNotCountedTwice() throws IOException {
    Path status = Files.writeString(mount.resolve("status"), "RssAnon: 100 kB\nRssShmem: 50 kB\n");
    assertThat(Machine.heapGrowth(300 << 10, 200 << 10, 30 << 10, status)).isEqualTo(270 << 10);
    assertThat(Machine.heapGrowth(300 << 10, 150 << 10, 30 << 10, status)).isEqualTo(150 << 10);
  }

  /** Prints how much its fixed-size heap may still grow. */
  static final class FixedHeap {
    public static void main(String[] arguments) {
      Runtime runtime = Runtime.getRuntime();
      long used = runtime.totalMemory() - runtime.freeMemory();
      System.out.print(
          Machine.heapGrowth(
              runtime.maxMemory(), runtime.totalMemory(), used, Path.of("/proc/self/status")));
    }

    private FixedHeap() {}
  }

  private static long growth(String... options) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xms600m", "-Xmx600m", "-XX:+UseSerialGC"));
    command.addAll(List.of(options));
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), FixedHeap.class.getName()));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    return Long.parseLong(
        new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
  }

  @Test
  void aPreTouchedHeapDoesNotGrow() throws Exception {
    assertThat(growth("-XX:+AlwaysPreTouch")).isZero();
    assertThat(growth()).isGreaterThan(400 * MIB);
  }

  @Test
  void limitHitsAndStallsAreReadFromTheKernel() throws IOException {
    Path membership = Files.writeString(mount.resolve("self"), "3:memory:/x\n");
    group1(mount.resolve("memory/x"), 3200, 700, "");
    Files.writeString(mount.resolve("memory/x/memory.failcnt"), "12\n");
    assertThat(room(membership).events()).isEqualTo(12);

    Files.writeString(membership, "0::/y\n");
    Path group = mount.resolve("y");
    group2(group, "6400", 700, "");
    Files.writeString(group.resolve("memory.high"), "3200\n");
    Files.writeString(
        group.resolve("memory.events"), "low 99\nhigh 1\nmax 20\noom 300\noom_kill 4000\n");
    String some = "some avg10=50.00 avg60=1.00 avg300=1.00 total=1\n";
    Files.writeString(
        group.resolve("memory.pressure"), some + "full avg10=12.50 avg60=0 avg300=0 total=1\n");
    assertThat(room(membership))
        .as("throttled at memory.high")
        .isEqualTo(new Machine.Room(3200, 2500, 0, true, 4321, 12.5));
    Files.writeString(group.resolve("memory.high"), "max\n");
    assertThat(room(membership).limit()).isEqualTo(6400);
  }

  @Test
  void theHostsPageCacheAndStallsAreRead() throws IOException {
    String meminfo = "MemTotal: 3200 kB\nMemAvailable: 300 kB\n";
    meminfo += "Active(file): 100 kB\nInactive(file): 50 kB\n";
    Path file = Files.writeString(mount.resolve("meminfo"), meminfo);
    Path stalls = Files.writeString(mount.resolve("stalls"), "full avg10=3.00 avg60=0\n");
    assertThat(Machine.rooms(file, stalls, mount.resolve("none"), mount))
        .containsExactly(new Machine.Room(3200 << 10, 300 << 10, 150 << 10, false, 0, 3));
  }

  @Test
  void withoutACgroupThereIsNoLimit() {
    assertThat(room(mount.resolve("none")).spare()).isGreaterThan(Long.MAX_VALUE / 2);
    assertThat(Machine.freeMemory()).isPositive().isLessThan(Long.MAX_VALUE / 2);
  }

  private Machine.Room room(Path membership) {
    Path none = mount.resolve("none");
    return Machine.least(Machine.rooms(none, none, membership, mount));
  }

  private static void group1(Path at, long limit, long usage, String stat) throws IOException {
    Files.createDirectories(at);
    Files.writeString(at.resolve("memory.limit_in_bytes"), limit + "\n");
    Files.writeString(at.resolve("memory.usage_in_bytes"), usage + "\n");
    Files.writeString(at.resolve("memory.stat"), stat);
  }

  private static void group2(Path at, String limit, long usage, String stat) throws IOException {
    Files.createDirectories(at);
    Files.writeString(at.resolve("memory.max"), limit + "\n");
    Files.writeString(at.resolve("memory.current"), usage + "\n");
    Files.writeString(at.resolve("memory.stat"), stat);
  }
}
