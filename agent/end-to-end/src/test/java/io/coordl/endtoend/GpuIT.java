package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.coordl.harness.ChildJvm;
import io.coordl.harness.ChildResult;
import io.coordl.harness.DeviceCopies;
import io.coordl.harness.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Jobs with a fake driver compiled for the test, which uses the layouts of NVIDIA's headers. Needs
 * gcc.
 */
class GpuIT {
  /** Time until the fake driver reports that a device is done. */
  private static final long DEVICE_MILLIS = 20;

  private static final List<String> FIGURES =
      List.of(
          "utilization",
          "ownUtilization",
          "idle",
          "memory",
          "usedMemory",
          "ownMemory",
          "milliwatts",
          "pcieSent",
          "pcieReceived",
          "clock",
          "memoryClock");

  private static Path driver;

  /** Contains an NVTX library without functions, because this machine may have a real one. */
  private static Path emptyNvtx;

  @BeforeAll
  static void compileTheDriver() throws IOException, InterruptedException {
    driver = Workshop.empty("gpu-driver");
    Path source =
        Workshop.checkout().root().resolve("agent/end-to-end/src/test/native/fake-driver.c");
    emptyNvtx = Workshop.empty("gpu-without-nvtx");
    compile(Path.of("/dev/null"), emptyNvtx.resolve("libnvToolsExt.so.1"));
    for (String library : List.of("libnvidia-ml.so.1", "libcuda.so.1", "libnvToolsExt.so.1")) {
      compile(source, driver.resolve(library));
    }
  }

  private static void compile(Path source, Path library) throws IOException, InterruptedException {
    Process gcc =
        new ProcessBuilder(
                "gcc", "-shared", "-fPIC", "-x", "c", "-o", library.toString(), source.toString())
            .inheritIO()
            .start();
    assertThat(gcc.waitFor()).as("gcc").isZero();
  }

  /** Returns a program that has loaded CUDA, like any program that uses a GPU. */
  private static ChildJvm program(Jdk jdk, Framework framework, String mainClass, String arguments)
      throws IOException {
    return Workshop.program(jdk, framework, mainClass)
        .environment("LD_LIBRARY_PATH", driver.toString())
        .environment("LD_PRELOAD", driver.resolve("libcuda.so.1").toString())
        .agent(Workshop.checkout().agentJar(), arguments);
  }

  /**
   * Returns a job that trains for {@code seconds} and saves its model four times. The first GPU
   * sample may come two seconds after the first batch.
   */
  private static ChildJvm job(Jdk jdk, String arguments, int devices, int seconds)
      throws IOException {
    // Tests run in parallel, so each job has its own directory.
    Path models = Files.createTempDirectory(Workshop.directory("gpu-models"), "job");
    return program(jdk, Framework.DJL, "example.checkpoints.DjlModels", arguments)
        .environment("FAKE_DEVICES", Integer.toString(devices))
        .args("paced", models.toString(), "10", String.valueOf(seconds / 4.0));
  }

  static Stream<Jdk> jdks(TestInfo test) {
    return Workshop.jdks(test);
  }

  static List<Integer> deviceCounts() {
    return Workshop.first(1, List.of(16, 0));
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void everyFieldMatchesTheDriver(Jdk jdk) throws IOException, InterruptedException {
    Path recording = Workshop.empty("gpu-" + jdk.version()).resolve("job.jfr");
    ChildResult job = job(jdk, "record=" + recording, 1, 4).run().orFail("job");
    assertEveryField(samples(recording).get(0));
    String line =
        "GPU 0 \\(Fake GPU\\): busy 25.0 %, less than the 90 % that MLPerf Storage requires; data"
            + " stalls explain at most [\\d.]+ % .*";
    assertThat(job.err()).containsPattern("\\[coordl\\] " + line);
    assertThat(Summary.text(recording)).anyMatch(each -> each.matches("Devices +" + line));
    assertThat(job.err()).doesNotContain("WARNING");
  }

  private static void assertEveryField(RecordedEvent sample) {
    assertThat(sample.getString("name")).isEqualTo("Fake GPU");
    assertThat(sample.getDouble("utilization")).isEqualTo(0.25);
    assertThat(sample.getDouble("ownUtilization")).isEqualTo(0.20);
    assertThat(sample.getLong("memory")).isEqualTo(80L << 30);
    assertThat(sample.getLong("usedMemory"))
        .as("without the driver's reserve, as in nvidia-smi")
        .isEqualTo((3L << 30) - (615L << 20));
    assertThat(sample.getLong("ownMemory")).isEqualTo(2L << 30);
    assertThat(sample.getLong("milliwatts")).isEqualTo(345678);
    assertThat(sample.getLong("pcieSent")).isEqualTo(100 * 1024);
    assertThat(sample.getLong("pcieReceived")).isEqualTo(2000 * 1024);
    assertThat(sample.getLong("clock")).isEqualTo(1980);
    assertThat(sample.getLong("memoryClock")).isEqualTo(2619);
  }

  /**
   * Sampling only the last fifth of each second would see either the start of each period, when
   * kernels run, or its end, when none do.
   */
  @ParameterizedTest
  @MethodSource("waves")
  void theDeviceIsBusyForAsLongAsAVaryingLoadRuns(int period, double part)
      throws IOException, InterruptedException {
    Path recording = Workshop.empty("gpu-wave-" + period).resolve("job.jfr");
    job(Workshop.newestJdk(), "record=" + recording, 1, Math.max(7, period / 200))
        .environment("FAKE_WAVE", period + " " + part)
        .run()
        .orFail("job");
    RecordedEvent sum = events(recording, "io.coordl.GpuStatistics").get(0);
    double sampled = sum.getDuration("sampled").toNanos();
    assertThat(sampled).as("nanoseconds").isGreaterThan(3e9);
    double lastPeriod = period * 1e6 * part * (1 - part) / sampled;
    assertThat(sum.getDuration("busy").toNanos() / sampled)
        .isCloseTo(part, within(0.03 + lastPeriod));
  }

  static Stream<Arguments> waves() {
    return Workshop.first(
        1, List.of(Arguments.of(1000, 0.2), Arguments.of(50, 0.5), Arguments.of(5000, 0.5)))
        .stream();
  }

  /** Two versions of JavaCPP unpack and load native code in one JVM. */
  @Test
  void theUsersPresetsRunBesideDl4jsOlderJavaCpp() throws IOException, InterruptedException {
    assumeTrue(Workshop.FULL, "runs only with -Pfull");
    Path toolkit = Path.of("/usr/local/cuda/lib64");
    assumeTrue(Files.exists(toolkit.resolve("libcudart.so.13")), "no CUDA 13 in " + toolkit);
    Path presets = Workshop.checkout().root().resolve("agent/end-to-end/target/presets");
    Path recording = Workshop.empty("gpu-dl4j").resolve("job.jfr");
    ChildResult job =
        program(
                Workshop.newestJdk(),
                Framework.DL4J,
                "example.truth.Dl4jRates",
                "profile=ingestion,profile.steps=20,gpu=on,gpu.presets="
                    + presets
                    + ",record="
                    + recording)
            .environment("LD_LIBRARY_PATH", driver + ":" + toolkit)
            .args("serial", "1", "2", "1")
            .run()
            .orFail("job");
    assertEveryField(samples(recording).get(0));
    assertThat(events(recording, "io.coordl.GpuStatistics").get(0).getString("binding"))
        .isEqualTo("JavaCPP presets");
    RecordedEvent phase = events(recording, "io.coordl.Phase").get(0);
    assertThat(phase.getDuration("wall").toMillis())
        .isGreaterThanOrEqualTo(phase.getLong("steps") * DEVICE_MILLIS);
    assertThat(job.err()).doesNotContain("sampled", "not when the GPUs have finished");
  }

  @ParameterizedTest
  @MethodSource("deviceCounts")
  void everyDeviceIsSampledAndUnsupportedFieldsAreUnknown(int devices)
      throws IOException, InterruptedException {
    Path recording = Workshop.empty("gpu-" + devices).resolve("job.jfr");
    ChildResult job =
        job(Workshop.newestJdk(), "gpu=on,record=" + recording, devices, 4)
            .environment("FAKE_VERSION", "535.54.03") // Uses the long process entries.
            .run()
            .orFail("job");
    assertThat(job.err().contains("no GPU is sampled: the driver has none for this process"))
        .isEqualTo(devices == 0);
    assertThat(job.err().contains("GPU 1 reports no utilization (as in MIG mode)"))
        .isEqualTo(devices > 1);
    List<RecordedEvent> samples = samples(recording);
    assertThat(samples.stream().map(each -> each.getLong("device")).distinct()).hasSize(devices);
    for (RecordedEvent sample : samples) {
      boolean supported = sample.getLong("device") != 1;
      for (String figure : FIGURES) {
        double value = sample.<Number>getValue(figure).doubleValue();
        assertThat(value).as(figure).matches(known -> supported ? known >= 0 : known == -1);
      }
      if (sample.getLong("device") == 0) {
        assertThat(sample.getLong("ownMemory")).isEqualTo(2L << 30);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"auto, false", "on, true"})
  void ifCudaIsNotLoadedDevicesAreSampledOnlyOnRequest(String gpu, boolean seen)
      throws IOException, InterruptedException {
    ChildResult job =
        job(Workshop.newestJdk(), "record=off,gpu=" + gpu, 1, 4)
            .environment("LD_PRELOAD", "")
            .run()
            .orFail("job");
    assertThat(job.err().contains("Fake GPU")).isEqualTo(seen);
  }

  @Test
  void aLostDeviceIsReportedOnceAndTheJobContinues() throws IOException, InterruptedException {
    ChildResult job =
        job(Workshop.newestJdk(), "record=off", 1, 5)
            .environment("FAKE_LOST", "1")
            .run()
            .orFail("job");
    assertThat(job.err())
        .containsOnlyOnce(
            "GPUs are no longer sampled: nvmlDeviceGetUtilizationRates failed with NVML error 15")
        .contains("GPU 0 (Fake GPU): busy");
  }

  @Test
  void afterOneDeviceIsLostTheOthersAreStillSampled() throws IOException, InterruptedException {
    Path recording = Workshop.empty("gpu-lost").resolve("job.jfr");
    ChildResult job =
        job(Workshop.newestJdk(), "record=" + recording, 4, 5)
            .environment("FAKE_LOST", "1")
            .environment("FAKE_LOST_DEVICE", "2")
            .run()
            .orFail("job");
    assertThat(job.err())
        .containsOnlyOnce(
            "GPU 2 is no longer sampled: nvmlDeviceGetUtilizationRates failed with NVML error 15")
        .doesNotContain("GPUs are no longer sampled");
    List<Long> devices = samples(recording).stream().map(each -> each.getLong("device")).toList();
    assertThat(devices).containsOnlyOnce(2L);
    assertThat(Collections.frequency(devices, 3L)).isGreaterThan(1);
  }

  private static ChildJvm pinned(ChildJvm program, String arguments, Path log) {
    return program
        .environment("LD_LIBRARY_PATH", driver.toString())
        .environment("FAKE_LOG", log.toString())
        .agent(Workshop.checkout().agentJar(), "record=off," + arguments);
  }

  @Test
  void withoutAGpuNoMemoryIsLockedAndThatIsLogged() throws IOException, InterruptedException {
    Path log = Workshop.empty("gpu-pinned-cpu").resolve("locked");
    ChildResult job =
        pinned(
                Workshop.program(Workshop.newestJdk(), Framework.DJL, "example.passes.CustomLoops")
                    .args("whole"),
                "prep=coordinate,prep.size=2m,gpu.pinned=on,group=gpu-" + UUID.randomUUID(),
                log)
            .run()
            .orFail("job");
    assertThat(log).doesNotExist();
    assertThat(job.err()).contains("gpu.pinned=on", "no batch was copied to a GPU from memory");
  }

  @Test
  void theBenchmarkAlsoCopiesFromMemoryThatCannotBeLocked()
      throws IOException, InterruptedException {
    for (String locks : List.of("64", "1")) {
      List<String[]> rows =
          DeviceCopies.rows(
              Workshop.program(Workshop.newestJdk(), Framework.DJL, DeviceCopies.MAIN)
                  .environment("LD_LIBRARY_PATH", driver.toString())
                  .environment("FAKE_LOCKS", locks),
              3);
      assertThat(rows).allMatch(row -> Double.parseDouble(row[1]) >= Double.parseDouble(row[2]));
      assertThat(rows.stream().map(row -> row[4]).filter("refused, error 2"::equals))
          .hasSize(locks.equals("1") ? 2 : 0);
    }
  }

  @ParameterizedTest
  @CsvSource({"auto, false", "off, false", "on, true"})
  void aMissingDriverIsReportedOnlyOnRequest(String gpu, boolean reported)
      throws IOException, InterruptedException {
    ChildResult job =
        job(Workshop.newestJdk(), "record=off,gpu=" + gpu, 1, gpu.equals("on") ? 3 : 1)
            .environment("LD_LIBRARY_PATH", "")
            .run()
            .orFail("job");
    assertThat(job.err().contains("no GPU is sampled: NVIDIA's driver is not available: "))
        .isEqualTo(reported);
    assertThat(job.err().lines().filter(line -> line.contains("GPU")))
        .noneMatch(line -> line.matches(".*(Exception|Error).*"));
  }

  @Test
  void stepsOfAProfileEndWhenTheDeviceIsDone() throws IOException, InterruptedException {
    assumeTrue(Workshop.FULL, "runs only with -Pfull");
    Path recording = Workshop.empty("gpu-profile").resolve("job.jfr");
    ChildResult job = // Without the device, a step takes 4 ms.
        program(
                Workshop.newestJdk(),
                Framework.DJL,
                "example.truth.DjlRates",
                "profile=ingestion,profile.steps=20,record=" + recording)
            .args("serial", "1", "2", "1")
            .run()
            .orFail("job");
    RecordedEvent phase = events(recording, "io.coordl.Phase").get(0);
    long device = phase.getLong("steps") * DEVICE_MILLIS;
    assertThat(device).isPositive();
    assertThat(phase.getDuration("wall").toMillis()).isGreaterThanOrEqualTo(device);
    assertThat(phase.getDuration("compute").toMillis()).isGreaterThanOrEqualTo(device);
    // The agent waits for the device when the next batch is requested, so not at the last step.
    assertThat(events(recording, "io.coordl.Step"))
        .hasSizeGreaterThan(50)
        .filteredOn(step -> step.getDuration("compute").toMillis() < DEVICE_MILLIS)
        .hasSizeLessThanOrEqualTo(events(recording, "io.coordl.Epoch").size());
    RecordedEvent gpu = events(recording, "io.coordl.GpuStatistics").get(0);
    assertThat(gpu.getDuration("synchronizedSteps").toMillis()).isGreaterThanOrEqualTo(device);
    assertThat(job.err()).doesNotContain("not when the GPUs have finished");
    assertThat(Summary.text(recording))
        .anyMatch(line -> line.matches("Devices .*; synchronized steps .* off by -.* %"));
  }

  /** Seven epochs of two batches; the agent knows no training thread before the first step. */
  @ParameterizedTest
  @MethodSource("jdks")
  void epochsBatchesAndStallsAreNestedRanges(Jdk jdk) throws IOException, InterruptedException {
    Path log = Workshop.empty("gpu-ranges-" + jdk.version()).resolve("ranges");
    ChildResult job =
        ranged(jdk, "gpu=off,record=off")
            .environment("LD_LIBRARY_PATH", driver.toString())
            .environment("FAKE_LOG", log.toString())
            .run()
            .orFail("job");
    List<String> ranges = Files.readAllLines(log);
    assertThat(Collections.frequency(ranges, "epoch 0")).isEqualTo(7);
    assertThat(Collections.frequency(ranges, "batch 1")).isEqualTo(13);
    assertThat(Collections.frequency(ranges, "data stall 1")).isGreaterThan(13);
    assertThat(Collections.frequency(ranges, "pop 0")).as("epochs that ended").isEqualTo(7);
    assertThat(ranges).allMatch(line -> line.matches("epoch 0|(batch|data stall) 1|pop [01]"));
    assertThat(job.err()).doesNotContain("gpu.ranges: ", "gpu.ranges=on did nothing");
  }

  @Test
  void withoutNvtxTheJobContinuesAndThatIsLogged() throws IOException, InterruptedException {
    ChildResult job =
        ranged(Workshop.newestJdk(), "record=off")
            .environment("LD_LIBRARY_PATH", emptyNvtx.toString())
            .jvmArgs("-Djna.library.path=" + emptyNvtx)
            .run()
            .orFail("job");
    assertThat(job.err()).containsOnlyOnce("gpu.ranges: Nsight sees no ranges: ");
    assertThat(job.err()).contains("gpu.ranges=on did nothing: the NVTX library failed");
  }

  private static ChildJvm ranged(Jdk jdk, String arguments) throws IOException {
    return Workshop.program(jdk, Framework.DJL, "example.checkpoints.DjlModels")
        .agent(Workshop.checkout().agentJar(), "gpu.ranges=on," + arguments)
        .args("save", Workshop.empty("gpu-ranges").toString());
  }

  private static List<RecordedEvent> samples(Path recording) throws IOException {
    return events(recording, "io.coordl.GpuSample");
  }

  private static List<RecordedEvent> events(Path recording, String type) throws IOException {
    assertThat(Files.exists(recording)).isTrue();
    return RecordingFile.readAllEvents(recording).stream()
        .filter(event -> event.getEventType().getName().equals(type))
        .sorted(Comparator.comparing(RecordedEvent::getEndTime))
        .toList();
  }
}
