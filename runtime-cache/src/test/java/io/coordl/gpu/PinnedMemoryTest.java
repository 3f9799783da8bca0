package io.coordl.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is page-locked, and what a driver that refuses does to a job: nothing. */
class PinnedMemoryTest {
  private static final String LOCK = "cuMemHostRegister_v2";
  private static final String UNLOCK = "cuMemHostUnregister";

  private final FakeDriver driver = new FakeDriver();
  private final List<String> said = new ArrayList<>();
  private final PinnedMemory pinned = new PinnedMemory(() -> new Cuda(driver), said::add);
  private final ByteBuffer memory = ByteBuffer.allocateDirect(8192);

  @Test
  void memoryIsLockedOnceInAContextThatTheProgramHas() {
    driver.active.add(1);
    assertThat(pinned.pin(memory, 4)).isTrue();
    assertThat(pinned.pin(memory, 4)).isTrue();
    assertThat(driver.count(LOCK)).isEqualTo(1);
    assertThat(pinned.said()).isEqualTo("gpu.pinned: 8.0 KiB of batches are page-locked");
    assertThat(pinned.whyUnused()).isEmpty();
    leavesContextsAsTheyWere();
  }

  @Test
  void withoutAContextNoneIsMade() {
    assertThat(pinned.pin(memory, 4)).isFalse();
    assertThat(driver.calls)
        .doesNotContain("cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2", LOCK);
    driver.active.add(0);
    assertThat(pinned.pin(memory, 4)).as("as soon as the program has made one").isTrue();
    assertThat(said).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cuInit",
        "cuDeviceGetCount",
        "cuDevicePrimaryCtxGetState",
        "cuDevicePrimaryCtxRetain",
        "cuCtxPushCurrent_v2",
        LOCK,
        "cuCtxPopCurrent_v2",
        "cuDevicePrimaryCtxRelease_v2"
      })
  void whateverFailsIsSaidOnceAndNotTriedAgain(String function) {
    driver.active.add(0);
    for (boolean isMissing : new boolean[] {true, false}) {
      said.clear();
      driver.calls.clear();
      driver.missing.clear();
      driver.failing.clear();
      if (isMissing) {
        driver.missing.add(function);
      } else {
        driver.failing.put(function, 2);
      }
      PinnedMemory refused = new PinnedMemory(() -> new Cuda(driver), said::add);
      refused.pin(memory, 4);
      boolean isNoMatter = !isMissing && function.matches(".*(Pop|Release).*");
      assertThat(said).hasSize(isNoMatter ? 0 : 1).allMatch(line -> line.contains(function));
      int calls = driver.calls.size();
      if (!isNoMatter) {
        assertThat(refused.pin(ByteBuffer.allocateDirect(4096), 4)).isFalse();
        assertThat(driver.calls).hasSize(calls);
        assertThat(refused.whyUnused()).contains("the driver refused");
      }
      if (function.equals(LOCK)) {
        leavesContextsAsTheyWere();
      }
    }
  }

  private void leavesContextsAsTheyWere() {
    assertThat(driver.count("cuCtxPushCurrent_v2")).isEqualTo(driver.count("cuCtxPopCurrent_v2"));
    assertThat(driver.count("cuDevicePrimaryCtxRetain"))
        .isEqualTo(driver.count("cuDevicePrimaryCtxRelease_v2"));
  }

  @Test
  void whatTheDriverDoesNotGiveBackIsHeldForGood() {
    driver.active.add(0);
    pinned.pin(memory, 4);
    driver.failing.put(UNLOCK, 999);
    pinned.unpin(memory);
    assertThat(said).singleElement().asString().contains("stays page-locked", "error 999");
    assertThat(pinned.pin(memory, 4)).isTrue();
    assertThat(pinned.said()).isNotEmpty();
    assertThat(driver.count(LOCK)).isEqualTo(1);
    pinned.unpin(memory);
    assertThat(said).hasSize(1);
  }

  @Test
  void whatItGivesBackMayBeLockedAnew() {
    driver.active.add(0);
    pinned.pin(memory, 4);
    pinned.unpin(memory);
    assertThat(pinned.said()).isEmpty();
    assertThat(pinned.pin(memory, 4)).isTrue();
    assertThat(driver.count(LOCK)).isEqualTo(2);
    pinned.unpin(ByteBuffer.allocateDirect(1));
    assertThat(driver.count(UNLOCK)).as("only what is locked").isEqualTo(1);
  }

  @Test
  void slotsAreLockedOnlyOnceBatchesGoToADeviceAndWithoutALimit() {
    driver.active.add(0);
    pinned.reading(memory);
    assertThat(driver.calls).isEmpty();
    pinned.copySlots();
    for (int slot = 0; slot < 6; slot++) {
      pinned.reading(ByteBuffer.allocateDirect(4096));
    }
    assertThat(driver.count(LOCK)).isEqualTo(6);
    assertThat(pinned.pin(memory, 4)).isFalse();
  }
}
