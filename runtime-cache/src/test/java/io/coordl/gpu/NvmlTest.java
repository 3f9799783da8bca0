package io.coordl.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.gpu.Natives.UnavailableException;
import io.coordl.telemetry.event.Figures;
import io.coordl.telemetry.event.GpuSampleEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Figures that a driver may or may not report about its devices. */
class NvmlTest {
  private static final String LIST = "nvmlDeviceGetComputeRunningProcesses_v3";

  private final FakeDriver driver = new FakeDriver();

  private Nvml nvml() throws UnavailableException {
    return new Nvml(driver, FakeDriver.PID, () -> driver.now);
  }

  /** Returns a sample taken one second later. */
  private GpuSampleEvent sample(Nvml nvml) throws UnavailableException {
    driver.now += 1_000_000;
    return Objects.requireNonNull(nvml.read(0, 1_000_000_000)).sample();
  }

  private GpuSampleEvent sample() throws UnavailableException {
    return sample(nvml());
  }

  /** Struct sizes in NVIDIA's headers for these drivers; 0 if the list must not be read. */
  @ParameterizedTest
  @CsvSource({
    "470.82.01, 0",
    "510.39.01, 24",
    "530.41.03, 24",
    "535.43.02, 32",
    "535.86.10, 32",
    "535.98, 0",
    "535.104.05, 24",
    "545.23.06, 24",
    "580.65.06, 24",
    "unknown, 0"
  })
  void theProcessListIsReadInTheDriversLayout(String version, int bytes)
      throws UnavailableException {
    driver.version = version;
    driver.processBytes = Math.max(24, bytes);
    assertThat(sample().ownMemory).isEqualTo(bytes == 0 ? -1 : driver.ownMemory);
    assertThat(driver.count(LIST)).as("a missing symbol may end the process").isLessThan(bytes + 1);
  }

  @Test
  void unreportedMemoryIsUnknown() throws UnavailableException {
    driver.ownMemory = -1; // NVML_VALUE_NOT_AVAILABLE
    driver.failing.put("nvmlDeviceGetMemoryInfo_v2", 3);
    driver.failing.put("nvmlDeviceGetMemoryInfo", 3);
    GpuSampleEvent sample = sample();
    assertThat(sample.ownMemory).isEqualTo(-1);
    assertThat(sample.memory).isEqualTo(-1);
    assertThat(sample.usedMemory).isEqualTo(-1);
    assertThat(sample.utilization).isEqualTo(0.25);

    Figures before = new JobStatisticsEvent();
    GpuTime time = new GpuTime("fake", before, 0);
    time.add(sample, 1, before, before, 0);
    assertThat(time.view().usedMemory).isEqualTo(-1);
  }

  @Test
  void theShareOfThisProcessIsZeroIfOnlyOthersRanAndIsNeverImplausible()
      throws UnavailableException {
    driver.failing.put("nvmlDeviceGetSamples", 3);
    Nvml nvml = nvml();
    long begin = driver.now;
    long then = begin + 500_000;
    driver.shares = new long[][] {{1, 10, 30}, {FakeDriver.PID, then, 40}, {77, -1, 2_000_000}};
    assertThat(sample(nvml).ownUtilization).isEqualTo(0.4);
    assertThat(driver.since).as("no samples from before the job").isEqualTo(begin);
    driver.shares = new long[][] {{1, 30, 30}, {FakeDriver.PID, Long.MAX_VALUE, 4711}};
    assertThat(sample(nvml).ownUtilization).isEqualTo(0);
    assertThat(driver.since).isEqualTo(then);
    driver.failing.put("nvmlDeviceGetProcessUtilization", 6); // No process ran.
    assertThat(sample(nvml).ownUtilization).isEqualTo(0);
    driver.ownMemory = -1; // It is also unknown whether this process is listed.
    assertThat(sample(nvml).ownUtilization).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetPcieThroughput",
        "nvmlDeviceGetClockInfo",
        "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetSamples",
        "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetProcessUtilization",
        LIST
      })
  void aMissingFunctionCostsOneFigureOnly(String function) throws UnavailableException {
    driver.missing.add(function);
    driver.shares = null;
    GpuSampleEvent sample = sample();
    // Without this function, the memory that the driver reserves counts as used.
    boolean countsReserved = function.equals("nvmlDeviceGetMemoryInfo_v2");
    assertThat(sample.usedMemory).isEqualTo((3L << 30) - (countsReserved ? 0 : 615L << 20));
    assertThat(sample.utilization).isEqualTo(0.25);
    assertThat(sample.milliwatts).isEqualTo(function.endsWith("Usage") ? -1 : 300);
  }

  @Test
  void aDriverWithoutSamplesFallsBackToItsUtilizationRates() throws UnavailableException {
    driver.failing.put("nvmlDeviceGetSamples", 3);
    driver.failing.put("nvmlDeviceGetProcessUtilization", 3);
    assertThat(sample().utilization).isEqualTo(0.25);
    driver.missing.add("nvmlDeviceGetUtilizationRates");
    assertThat(sample().utilization).isEqualTo(-1);
  }

  @Test
  void eachWindowCountsOnceAndAGapAtMostASecond() throws UnavailableException {
    Nvml nvml = nvml();
    driver.now += 1_000_000;
    assertThat(nvml.read(0, 7)).extracting(Nvml.Reading::nanos).isEqualTo(1_000_000_000L);
    driver.now += 100_000;
    assertThat(nvml.read(0, 7)).extracting(Nvml.Reading::nanos).isEqualTo(0L);
    driver.now += 100_000;
    assertThat(nvml.read(0, 7)).extracting(Nvml.Reading::nanos).isEqualTo(200_000_000L);
    // The process was paused. The driver kept 100 windows of 0.2 s; the first counts as 1 s.
    driver.now += 600_000_000;
    assertThat(nvml.read(0, 7)).extracting(Nvml.Reading::nanos).isEqualTo(20_800_000_000L);
    driver.now -= 3_600_000_000L; // The clock was set back.
    nvml.read(0, 7);
    driver.now += 1_000_000;
    assertThat(nvml.read(0, 7)).extracting(Nvml.Reading::nanos).isEqualTo(1_000_000_000L);
  }

  @Test
  void aLostDeviceIsReportedOnceAndTheOtherContinues() throws UnavailableException {
    Nvml nvml = nvml();
    driver.lostDevice = 100;
    assertThatThrownBy(() -> nvml.read(0, 1)).hasMessageContaining("error 15");
    assertThat(nvml.read(0, 1)).isNull();
    assertThat(nvml.read(1, 1)).isNotNull();
    assertThat(nvml.isAlive()).isTrue();
    driver.failing.put("nvmlDeviceGetPowerUsage", 9); // The driver is gone.
    assertThatThrownBy(() -> nvml.read(1, 1)).hasMessageContaining("error 9");
    assertThat(nvml.isAlive()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"nvmlInit_v2", "nvmlDeviceGetCount_v2"})
  void aFailingRequiredFunctionIsReportedInOneSentence(String function) {
    driver.failing.put(function, 999);
    assertThatThrownBy(this::nvml)
        .isInstanceOf(UnavailableException.class)
        .hasMessage(function + " failed with NVML error 999");
  }

  @Test
  void devicesTheUserMayNotOpenAreSkipped() throws UnavailableException {
    driver.failing.put("nvmlDeviceGetHandleByIndex_v2", 4);
    Nvml nvml = nvml();
    assertThat(nvml.count()).isEqualTo(2);
    assertThat(nvml.isAlive()).isFalse();
    assertThat(nvml.read(0, 1)).isNull();
  }
}
