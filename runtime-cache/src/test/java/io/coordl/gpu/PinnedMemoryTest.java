package io.coordl.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks which memory is page-locked; a driver that refuses does not affect the job. */
class PinnedMemoryTest {
  private static final String LOCK = "cuMemHostRegister_v2";
  private static final String UNLOCK = "cuMemHostUnregister";

  private final FakeDriver driver = new FakeDriver();
  private final List<String> logged = new ArrayList<>();
  private long now;
  private final Set<ByteBuffer> lockedSlots = Collections.newSetFromMap(new IdentityHashMap<>());
  private final PinnedMemory pinned = memoryOf();
  private final ByteBuffer memory = ByteBuffer.allocateDirect(8192);

  private PinnedMemory memoryOf() {
    return new PinnedMemory(() -> new Cuda(driver), logged::add, () -> now);
  }

  @Test
  void memoryIsLockedOnceInTheProgramsContext() {
    driver.active.add(1);
    assertThat(pinned.pin(memory, 4)).isTrue();
    assertThat(pinned.pin(memory, 4)).isTrue();
    assertThat(driver.count(LOCK)).isEqualTo(1);
    assertThat(pinned.summary()).isEqualTo("gpu.pinned: 8.0 KiB of batches are page-locked");
    assertThat(pinned.whyUnused()).isEmpty();
    assertContextsRestored();
  }

  @Test
  void noContextIsCreated() {
    assertThat(pinned.pin(memory, 4)).isFalse();
    assertThat(driver.calls)
        .doesNotContain("cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2", LOCK);
    driver.active.add(0);
    assertThat(pinned.pin(memory, 4)).as("once the program has created one").isTrue();
    assertThat(logged).isEmpty();
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
  void failuresExceptHarmlessOnesAreLoggedOnceAndNotRetried(String function) {
    driver.active.add(0);
    for (boolean isMissing : new boolean[] {true, false}) {
      logged.clear();
      driver.calls.clear();
      driver.missing.clear();
      driver.failing.clear();
      if (isMissing) {
        driver.missing.add(function);
      } else {
        driver.failing.put(function, 2);
      }
      PinnedMemory refused = memoryOf();
      refused.pin(memory, 4);
      boolean isHarmless = !isMissing && function.matches(".*(Pop|Release).*");
      assertThat(logged).hasSize(isHarmless ? 0 : 1).allMatch(line -> line.contains(function));
      int calls = driver.calls.size();
      if (!isHarmless) {
        assertThat(refused.pin(ByteBuffer.allocateDirect(4096), 4)).isFalse();
        assertThat(driver.calls).hasSize(calls);
        assertThat(refused.whyUnused()).contains("the driver refused");
      }
      if (function.equals(LOCK)) {
        assertContextsRestored();
      }
    }
  }

  private void assertContextsRestored() {
    assertThat(driver.count("cuCtxPushCurrent_v2")).isEqualTo(driver.count("cuCtxPopCurrent_v2"));
    assertThat(driver.count("cuDevicePrimaryCtxRetain"))
        .isEqualTo(driver.count("cuDevicePrimaryCtxRelease_v2"));
  }

  @Test
  void memoryThatCannotBeUnlockedStaysLocked() {
    driver.active.add(0);
    pinned.pin(memory, 4);
    driver.failing.put(UNLOCK, 999);
    pinned.unpin(memory);
    assertThat(logged).singleElement().asString().contains("stays page-locked", "error 999");
    assertThat(pinned.pin(memory, 4)).isTrue();
    assertThat(pinned.summary()).isNotEmpty();
    assertThat(driver.count(LOCK)).isEqualTo(1);
    pinned.unpin(memory);
    assertThat(logged).hasSize(1);
  }

  @Test
  void unlockedMemoryMayBeLockedAgain() {
    driver.active.add(0);
    pinned.pin(memory, 4);
    pinned.unpin(memory);
    assertThat(pinned.summary()).isEmpty();
    assertThat(pinned.pin(memory, 4)).isTrue();
    assertThat(driver.count(LOCK)).isEqualTo(2);
    pinned.unpin(ByteBuffer.allocateDirect(1));
    assertThat(driver.count(UNLOCK)).as("locked memory only").isEqualTo(1);
  }

  /**
   * Reads and copies a slot, at {@code locked} ns a byte if it is locked, else at {@code other}.
   */
  private void read(ByteBuffer slot, long locked, long other) {
    long before = driver.count(LOCK);
    pinned.reading(slot);
    boolean isLocked = driver.count(LOCK) > before || lockedSlots.contains(slot);
    if (isLocked) {
      lockedSlots.add(slot);
    }
    pinned.copied(slot.capacity(), slot.capacity() * (isLocked ? locked : other));
  }

  private static List<ByteBuffer> slots(int count) {
    return Stream.generate(() -> ByteBuffer.allocateDirect(4096)).limit(count).toList();
  }

  @Test
  void anyNumberOfSlotsIsLockedOnReuse() {
    driver.active.add(0);
    pinned.reading(memory);
    assertThat(driver.calls).as("before batches go to a device").isEmpty();
    pinned.copySlots();
    List<ByteBuffer> slots = slots(6);
    slots.forEach(slot -> read(slot, 1, 10));
    assertThat(driver.count(LOCK)).as("each slot is new").isZero();
    assertThat(pinned.whyUnused()).contains("was reused");
    slots.forEach(slot -> read(slot, 1, 10));
    slots.forEach(slot -> read(slot, 1, 10));
    assertThat(driver.count(LOCK)).isEqualTo(6);
    assertThat(pinned.pin(memory, 4)).isFalse();
    assertThat(pinned.whyUnused()).isEmpty();
  }

  /** Scaled from an H200: locking takes 10 ms; a copy takes 3.5 ms, or 0.7 ms if locked. */
  @Test
  void aSlotIsLockedOnceItsCopiesWouldHavePaidForTheLock() {
    driver.active.add(0);
    driver.onLock = () -> now += 100L * memory.capacity();
    pinned.copySlots();
    ByteBuffer first = memory;
    read(first, 7, 35);
    read(first, 7, 35);
    assertThat(driver.count(LOCK)).as("one trial").isEqualTo(1);
    List<ByteBuffer> slots = slots(3);
    for (int copy = 1; copy <= 4; copy++) {
      slots.forEach(slot -> read(slot, 7, 35));
      assertThat(driver.count(LOCK)).as("before copy %s", copy).isEqualTo(copy < 4 ? 1 : 4);
    }
  }

  @Test
  void lockingStopsIfCopiesAreNoFaster() {
    driver.active.add(0);
    pinned.copySlots();
    for (int i = 0; i < 20; i++) {
      read(memory, 10, 10);
    }
    assertThat(logged).singleElement().asString().contains("no more slots", "10.00 ns a byte");
    for (int i = 0; i < 20; i++) {
      slots(2).forEach(slot -> read(slot, 10, 10));
      read(memory, 10, 10);
    }
    assertThat(driver.count(LOCK)).isEqualTo(1);
    assertThat(logged).hasSize(1);
  }
}
