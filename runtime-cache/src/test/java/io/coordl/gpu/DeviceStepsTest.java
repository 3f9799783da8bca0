package io.coordl.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Steps of a profile, with and without devices. */
class DeviceStepsTest {
  private final FakeDriver driver = new FakeDriver();
  private final List<String> logged = new ArrayList<>();
  private final List<Long> steps = new ArrayList<>();
  private boolean enabled = true;
  private final DeviceSteps ends =
      new DeviceSteps(() -> enabled, () -> new Cuda(driver), steps::add, logged::add);

  @Test
  void aStepSynchronizesEachDeviceTheProgramUses() {
    driver.active.add(0);
    driver.active.add(1);
    ends.end(0);
    assertThat(steps).as("before the first batch").isEmpty();
    ends.end(System.nanoTime());
    assertThat(steps).hasSize(1);
    assertThat(driver.count("cuCtxSynchronize")).isEqualTo(4);
    assertThat(logged).isEmpty();
  }

  @Test
  void stepsWithoutADeviceAreNotSynchronized() {
    ends.end(System.nanoTime());
    assertThat(steps).isEmpty();
    driver.active.add(1);
    ends.end(System.nanoTime());
    assertThat(steps).hasSize(1);
  }

  @Test
  void aProgramWithoutCudaInItsFirstStepIsLeftAlone() {
    enabled = false;
    ends.end(System.nanoTime());
    enabled = true;
    ends.end(System.nanoTime());
    assertThat(driver.calls).isEmpty();
    assertThat(logged).isEmpty();
  }

  @Test
  void cudaLoadedInTheFirstStepIsUsed() {
    driver.active.add(0);
    enabled = false;
    ends.end(0);
    enabled = true;
    ends.end(System.nanoTime());
    assertThat(steps).hasSize(1);
  }

  @Test
  void aFailingDriverIsLoggedOnceAndNotCalledAgain() {
    driver.failing.put("cuInit", 100);
    ends.end(System.nanoTime());
    ends.end(System.nanoTime());
    assertThat(logged)
        .containsExactly(
            "profile: a step ends when its kernels are launched, not when the GPUs have finished:"
                + " cuInit failed with CUDA error 100");
    assertThat(driver.calls).containsExactly("cuInit");
    assertThat(steps).isEmpty();
  }
}
