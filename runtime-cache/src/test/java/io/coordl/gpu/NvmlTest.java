package io.coordl.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.event.Figures;
import io.coordl.event.GpuSampleEvent;
import io.coordl.event.JobStatisticsEvent;
import io.coordl.gpu.Natives.UnavailableException;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a driver may tell, or not tell, of its devices. */
class NvmlTest {
  private static final String LIST = "nvmlDeviceGetComputeRunningProcesses_v3";

  private final FakeDriver driver = new FakeDriver();

  private GpuSampleEvent sample() throws UnavailableException {
    return Objects.requireNonNull(new Nvml(driver, FakeDriver.PID).read(0));
  }

  /** The layouts of NVIDIA's headers of these drivers. */
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
  void theListOfProcessesIsReadAsTheDriverWritesIt(String version, int bytes)
      throws UnavailableException {
    driver.version = version;
    driver.processBytes = Math.max(24, bytes);
    assertThat(sample().ownMemory).isEqualTo(bytes == 0 ? -1 : driver.ownMemory);
    assertThat(driver.count(LIST)).as("a missing symbol may end the process").isLessThan(bytes + 1);
  }

  @Test
  void memoryThatTheDriverDoesNotTellIsUnknown() throws UnavailableException {
    driver.ownMemory = -1; // NVML_VALUE_NOT_AVAILABLE
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
  void theShareOfThisProcessIsZeroWhereOnlyOthersRanAndNeverWild() throws UnavailableException {
    Nvml nvml = new Nvml(driver, FakeDriver.PID);
    driver.shares = new long[][] {{1, 10, 30}, {FakeDriver.PID, 20, 40}, {77, -1, 2_000_000}};
    assertThat(Objects.requireNonNull(nvml.read(0)).ownUtilization).isEqualTo(0.4);
    driver.shares = new long[][] {{1, 30, 30}, {FakeDriver.PID, Long.MAX_VALUE, 4711}};
    assertThat(Objects.requireNonNull(nvml.read(0)).ownUtilization).isEqualTo(0);
    assertThat(driver.since).isEqualTo(20);
    driver.failing.put("nvmlDeviceGetProcessUtilization", 6); // Nobody ran.
    assertThat(Objects.requireNonNull(nvml.read(0)).ownUtilization).isEqualTo(0);
    driver.ownMemory = -1; // Nor is it known whether this one is there.
    assertThat(Objects.requireNonNull(nvml.read(0)).ownUtilization).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetPcieThroughput",
        "nvmlDeviceGetClockInfo",
        "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetProcessUtilization",
        LIST
      })
  void aFunctionThatTheDriverLacksIsOneFigureLess(String function) throws UnavailableException {
    driver.missing.add(function);
    GpuSampleEvent sample = sample();
    assertThat(sample.usedMemory).isEqualTo(3L << 30);
    assertThat(sample.utilization).isEqualTo(function.endsWith("Rates") ? -1 : 0.25);
    assertThat(sample.milliwatts).isEqualTo(function.endsWith("Usage") ? -1 : 300);
  }

  @Test
  void aLostDeviceIsSaidOnceAndTheOtherGoesOn() throws UnavailableException {
    Nvml nvml = new Nvml(driver, FakeDriver.PID);
    driver.lostDevice = 100;
    assertThatThrownBy(() -> nvml.read(0)).hasMessageContaining("error 15");
    assertThat(nvml.read(0)).isNull();
    assertThat(nvml.read(1)).isNotNull();
    assertThat(nvml.isAlive()).isTrue();
    driver.failing.put("nvmlDeviceGetPowerUsage", 9); // The driver is gone.
    assertThatThrownBy(() -> nvml.read(1)).hasMessageContaining("error 9");
    assertThat(nvml.isAlive()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"nvmlInit_v2", "nvmlDeviceGetCount_v2"})
  void whatIsNeededAndFailsIsASentence(String function) {
    driver.failing.put(function, 999);
    assertThatThrownBy(() -> new Nvml(driver, FakeDriver.PID))
        .isInstanceOf(UnavailableException.class)
        .hasMessage(function + " failed with error 999 of NVML");
  }

  @Test
  void devicesThatThisUserMayNotOpenAreLeftOut() throws UnavailableException {
    driver.failing.put("nvmlDeviceGetHandleByIndex_v2", 4);
    Nvml nvml = new Nvml(driver, FakeDriver.PID);
    assertThat(nvml.count()).isEqualTo(2);
    assertThat(nvml.isAlive()).isFalse();
    assertThat(nvml.read(0)).isNull();
  }
}
