package io.coordl.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.event.EpochEvent;
import io.coordl.telemetry.event.Figures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelCoresTest {
  @TempDir Path folder;
  private final AtomicLong clock = new AtomicLong();
  private Path proc = Path.of("");
  private Path groups = Path.of("");
  private KernelCores cores = new KernelCores();

  @BeforeEach
  void useFakeProcAndCgroups() {
    proc = folder.resolve("proc");
    groups = folder.resolve("cgroup");
    cores = new KernelCores(proc, groups, clock::get);
  }

  private static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private void thread(String number, long waited) throws IOException {
    write(proc.resolve("self/task/" + number + "/schedstat"), "777 " + waited + " 5\n");
  }

  private void thread(String number, String name, long cpu) throws IOException {
    write(proc.resolve("self/task/" + number + "/comm"), name + "\n");
    write(proc.resolve("self/task/" + number + "/schedstat"), cpu + " 0 5\n");
  }

  private Figures process() {
    clock.addAndGet(KernelCores.PAUSE_NANOS);
    Figures figures = new EpochEvent();
    cores.ofProcess(figures);
    return figures;
  }

  @Test
  void waitsOfRunningAndEndedThreadsAddUp() throws IOException {
    thread("7", 100);
    thread("8", 20);
    assertThat(process().coreWait).isEqualTo(120);
    Files.delete(proc.resolve("self/task/8/schedstat"));
    Files.delete(proc.resolve("self/task/8"));
    thread("7", 130);
    assertThat(process().coreWait).isEqualTo(150);
    thread("8", 5); // A new thread that reuses the number of an ended one.
    thread("7", 3); // The same, between two readings.
    assertThat(process().coreWait).isEqualTo(20 + 130 + 5 + 3);
  }

  @Test
  void theJvmsOwnThreadsAreToldApartByTheirNames() throws IOException {
    thread("1", "java", 1_000);
    thread("2", "C2 CompilerThre", 200);
    thread("3", "C1 CompilerThre", 30);
    thread("4", "GC Thread#0", 7);
    thread("5", "G1 Conc#0", 9);
    Figures first = process();
    assertThat(first.compilerCpu).isEqualTo(230);
    assertThat(first.collectorCpu).isEqualTo(16);
    thread("3", "loader", 5); // A new thread that reuses the number of an ended one.
    thread("4", "GC Thread#0", 8);
    Figures second = process();
    assertThat(second.compilerCpu).isEqualTo(230);
    assertThat(second.collectorCpu).isEqualTo(17);
  }

  @Test
  void aThreadWhoseTimesCannotBeReadKeepsItsLastOnes() throws IOException {
    thread("2", "C2 CompilerThre", 200);
    assertThat(process().compilerCpu).isEqualTo(200);
    Files.delete(proc.resolve("self/task/2/schedstat"));
    assertThat(process().compilerCpu).isEqualTo(200);
    thread("2", "C2 CompilerThre", 300);
    assertThat(process().compilerCpu).isEqualTo(300);
  }

  @Test
  void waitsOfTheJvmsOwnThreadsAreAPartOfAll() throws IOException {
    thread("1", "java", 0);
    thread("1", 100);
    thread("2", "C2 CompilerThre", 0);
    thread("2", 30);
    thread("3", "GC Thread#0", 0);
    thread("3", 4);
    assertThat(process().coreWait).isEqualTo(134);
    assertThat(process().jvmCoreWait).isEqualTo(34);
  }

  @Test
  void threadsAreReadAtMostOncePerInterval() throws IOException {
    thread("7", 100);
    assertThat(process().coreWait).isEqualTo(100);
    thread("7", 200);
    Figures soon = new EpochEvent();
    cores.ofProcess(soon);
    assertThat(soon.coreWait).isEqualTo(100);
    assertThat(process().coreWait).isEqualTo(200);
  }

  @Test
  void aThreadsWaitIsTheSecondNumberOfSchedstat() throws IOException {
    write(proc.resolve("thread-self/schedstat"), "12 34 56\n");
    assertThat(cores.ofThread()).isEqualTo(34);
  }

  @Test
  void cgroup1QuotaAndThrottlingAreRead() throws IOException {
    write(proc.resolve("self/cgroup"), "2:cpu,cpuacct:/docker/x\n");
    write(groups.resolve("cpu/docker/x/cpu.cfs_quota_us"), "150000\n");
    write(groups.resolve("cpu/docker/x/cpu.cfs_period_us"), "100000\n");
    write(groups.resolve("cpu/docker/x/cpu.stat"), "nr_periods 9\nthrottled_time 4000\n");
    assertThat(process().throttled).isEqualTo(4_000);
    assertThat(KernelCores.limit(proc.resolve("self/cgroup"), groups)).isEqualTo(1.5);
    write(groups.resolve("cpu/docker/x/cpu.cfs_quota_us"), "-1\n");
    assertThat(process().throttled).isZero();
    assertThat(KernelCores.limit(proc.resolve("self/cgroup"), groups)).isZero();
  }

  @Test
  void theTightestCgroup2QuotaCounts() throws IOException {
    write(proc.resolve("self/cgroup"), "0::/a/b\n");
    write(groups.resolve("a/b/cpu.max"), "max 100000\n");
    write(groups.resolve("a/cpu.max"), "50000 100000\n");
    write(groups.resolve("a/cpu.stat"), "usage_usec 9\nthrottled_usec 7\n");
    assertThat(process().throttled).isEqualTo(7_000);
    assertThat(KernelCores.limit(proc.resolve("self/cgroup"), groups)).isEqualTo(0.5);
  }

  @Test
  void pressureIsTheContainersOrElseTheHosts() throws IOException {
    String some = "some avg10=0.00 avg60=0.00 avg300=0.00 total=";
    write(proc.resolve("pressure/cpu"), some + "30\nfull avg10=0.00 total=1\n");
    assertThat(process().pressure).isEqualTo(30_000);
    write(proc.resolve("self/cgroup"), "0::/a\n");
    write(groups.resolve("a/cpu.pressure"), some + "20\n");
    assertThat(process().pressure).isEqualTo(20_000);
  }

  @Test
  void withoutKernelCountersFiguresAreZero() {
    Figures figures = process();
    assertThat(figures.coreWait + figures.throttled + figures.pressure + figures.cpu).isZero();
    assertThat(cores.ofThread()).isZero();
    assertThat(KernelCores.limit(proc.resolve("self/cgroup"), groups)).isZero();
  }
}
