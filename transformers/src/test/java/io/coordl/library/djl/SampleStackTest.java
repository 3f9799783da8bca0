package io.coordl.library.djl;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.gpu.LockedMemory;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.PreparedSamples.Kept;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The memory in which batches are stacked. */
class SampleStackTest {
  private final LockedMemory memory = new LockedMemory();
  private final SampleStack stack = new SampleStack(memory.pinned, null);

  private ByteBuffer bytes(List<Kept> samples) throws Exception {
    return stack.bytes(Objects.requireNonNull(SampleStack.layout(samples)), samples);
  }

  /** {@code count} samples of 1000 bytes. */
  private static List<Kept> samples(int count) {
    BatchLayout layout =
        new BatchLayout(
            List.of(new BatchLayout.Array(BatchArrays.DATA, "UINT8", "", List.of(1000L), 1000)));
    ByteBuffer bytes = ByteBuffer.allocateDirect((int) layout.bytes());
    layout.writeTo(bytes);
    return Collections.nCopies(count, new Kept(layout, bytes));
  }

  @Test
  void memoryCopiedToADeviceIsLockedAndReused() throws Exception {
    for (int batch = 0; batch < 5; batch++) {
      stack.free(bytes(samples(batch == 4 ? 7 : 8)), true);
    }
    assertThat(memory.locked).singleElement().satisfies(bytes -> assertThat(bytes % 4096).isZero());
  }

  @Test
  void largerBatchReplacesTheLockedMemory() throws Exception {
    stack.free(bytes(samples(2)), true);
    ByteBuffer larger = bytes(samples(20));
    stack.free(larger, true);
    assertThat(bytes(samples(20))).isSameAs(larger);
    assertThat(memory.locked).hasSize(3);
    assertThat(memory.locked.get(1)).isEqualTo(-memory.locked.get(0));
  }

  @Test
  void atMostFourBatchesAreLocked() throws Exception {
    List<ByteBuffer> batches = new ArrayList<>();
    for (int thread = 0; thread < 10; thread++) {
      batches.add(bytes(samples(8)));
    }
    batches.forEach(batch -> stack.free(batch, true));
    assertThat(memory.locked).hasSize(4);
    Set<ByteBuffer> locked = Collections.newSetFromMap(new IdentityHashMap<>());
    locked.addAll(batches.subList(0, 4));
    for (int batch = 0; batch < 4; batch++) {
      assertThat(locked.remove(bytes(samples(8)))).isTrue();
    }
  }

  @Test
  void batchesOnTheHostAreNotLocked() throws Exception {
    stack.free(bytes(samples(8)), false);
    ByteBuffer again = bytes(samples(8));
    stack.free(again, false);
    assertThat(bytes(samples(8))).isSameAs(again);
    assertThat(memory.locked).isEmpty();
  }
}
