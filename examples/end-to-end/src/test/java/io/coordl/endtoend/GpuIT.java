package io.coordl.endtoend;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.benchmarks.ChildJvm;
import io.coordl.benchmarks.ChildResult;
import io.coordl.benchmarks.Jdk;
import io.coordl.benchmarks.Jdks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A job beside a driver that was compiled for the test: the agent's own calls meet the layouts of
 * NVIDIA's headers. Needs gcc.
 */
class GpuIT {
  private static Path driver;

  @BeforeAll
  static void compileTheDriver() throws IOException, InterruptedException {
    driver = Workshop.empty("gpu-driver");
    Path source =
        Workshop.checkout().root().resolve("examples/end-to-end/src/test/native/fake-driver.c");
    for (String library : List.of("libnvidia-ml.so.1", "libcuda.so.1")) {
      Process gcc =
          new ProcessBuilder(
                  "gcc",
                  "-shared",
                  "-fPIC",
                  "-o",
                  driver.resolve(library).toString(),
                  source.toString())
              .inheritIO()
              .start();
      assertThat(gcc.waitFor()).as("gcc").isZero();
    }
  }

  private static ChildJvm job(Jdk jdk, String arguments, int devices) throws IOException {
    return Workshop.program(jdk, Framework.DJL, "example.checkpoints.DjlModels")
        .environment("LD_LIBRARY_PATH", driver.toString())
        .environment("FAKE_DEVICES", Integer.toString(devices))
        .args("paced", Workshop.empty("gpu-models").toString(), "10", "3")
        .agent(Workshop.checkout().agentJar(), arguments);
  }

  static List<Jdk> allJdks() {
    return Jdks.all();
  }

  @ParameterizedTest
  @MethodSource("allJdks")
  void everyFieldIsAsTheDriverTells(Jdk jdk) throws IOException, InterruptedException {
    Path recording = Workshop.empty("gpu-" + jdk.version()).resolve("job.jfr");
    ChildResult job = job(jdk, "record=" + recording, 1).run().orFail("job");
    RecordedEvent sample = samples(recording).get(0);
    assertThat(sample.getString("name")).isEqualTo("Fake GPU");
    assertThat(sample.getDouble("utilization")).isEqualTo(0.25);
    assertThat(sample.getDouble("ownUtilization")).isEqualTo(0.20);
    assertThat(sample.getLong("memory")).isEqualTo(80L << 30);
    assertThat(sample.getLong("usedMemory")).isEqualTo(3L << 30);
    assertThat(sample.getLong("ownMemory")).isEqualTo(2L << 30);
    assertThat(sample.getLong("milliwatts")).isEqualTo(345678);
    assertThat(sample.getLong("pcieSent")).isEqualTo(100 * 1024);
    assertThat(sample.getLong("pcieReceived")).isEqualTo(2000 * 1024);
    assertThat(sample.getLong("clock")).isEqualTo(1980);
    assertThat(sample.getLong("memoryClock")).isEqualTo(2619);
    String line = "GPU 0 \\(Fake GPU\\): busy 25.0 %; data stalls explain at most [\\d.]+ % .*";
    assertThat(job.err()).containsPattern("\\[coordl\\] " + line);
    assertThat(Summary.text(recording)).anyMatch(each -> each.matches("Devices +" + line));
    assertThat(job.err()).doesNotContain("WARNING");
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "4, 3"})
  void devicesAreAsManyAsTheDriverHas(int devices, int told)
      throws IOException, InterruptedException {
    Path recording = Workshop.empty("gpu-" + devices).resolve("job.jfr");
    job(Workshop.newestJdk(), "record=" + recording, devices).run().orFail("job");
    List<RecordedEvent> samples = samples(recording);
    assertThat(samples.stream().map(each -> each.getLong("device")).distinct()).hasSize(devices);
    assertThat(
            samples.stream()
                .filter(each -> each.getDouble("utilization") >= 0)
                .map(each -> each.getLong("device"))
                .distinct())
        .hasSize(told); // One supports nothing.
  }

  @Test
  void aLostDeviceIsSaidOnceAndTheJobGoesOn() throws IOException, InterruptedException {
    ChildResult job =
        job(Workshop.newestJdk(), "record=off", 1)
            .environment("FAKE_LOST", "2")
            .run()
            .orFail("job");
    assertThat(job.err())
        .containsOnlyOnce(
            "GPUs are sampled no more: nvmlDeviceGetUtilizationRates failed with error 15")
        .contains("GPU 0 (Fake GPU): busy");
  }

  @ParameterizedTest
  @CsvSource({"auto, false", "off, false", "on, true"})
  void withoutADriverOnlyWhoAskedIsTold(String gpu, boolean told)
      throws IOException, InterruptedException {
    ChildResult job =
        job(Workshop.newestJdk(), "record=off,gpu=" + gpu, 1)
            .environment("LD_LIBRARY_PATH", "")
            .run()
            .orFail("job");
    assertThat(job.err().contains("no GPU is sampled: ")).isEqualTo(told);
  }

  private static List<RecordedEvent> samples(Path recording) throws IOException {
    assertThat(Files.exists(recording)).isTrue();
    return RecordingFile.readAllEvents(recording).stream()
        .filter(event -> event.getEventType().getName().equals("io.coordl.GpuSample"))
        .toList();
  }
}
