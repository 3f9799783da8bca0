package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.bridge.Origin;
import io.coordl.host.Liveness;
import io.coordl.items.ItemKey;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Unit tests of a store's parts. */
class StorePartsTest {
  // ---- keys

  /** Jobs of different builds that share a store find each other's items by key. */
  @Test
  void itemKeysNeverChange() {
    assertThat(ItemKey.of("", 0, 0, ItemKey.WHOLE))
        .isEqualTo(new ItemKey(5301802903310699211L, 5245706874457315844L));
    assertThat(ItemKey.of("/a", 1, 2, 3))
        .isEqualTo(new ItemKey(-7422670892984094651L, -8086868716430454053L));
    assertThat(ItemKey.of("/data/image.jpg", 12_345, 1_700_000_000_000_000_000L, ItemKey.WHOLE))
        .isEqualTo(new ItemKey(1471463063688824081L, -3709948324843846847L));
  }

  // ---- layout

  @Test
  void aSlotIdentifiesItsOwnerAndState() {
    Random random = new Random(1);
    for (int i = 0; i < 100; i++) {
      ItemKey key = new ItemKey(random.nextLong(), random.nextLong());
      long job = 1 + random.nextLong(Liveness.MAX_JOB);
      long offset = random.nextLong(ArenaDescriptor.MAX_CAPACITY) & -8L;
      long claimed = ArenaDescriptor.claimed(job, key);
      long ready = ArenaDescriptor.ready(offset, key);
      long abandoned = ArenaDescriptor.abandoned(key);

      assertThat(ArenaDescriptor.owner(claimed)).isEqualTo(job);
      assertThat(ArenaDescriptor.itemOffset(ready)).isEqualTo(offset);
      states(claimed, true, false, false);
      states(ready, false, true, false);
      states(abandoned, false, false, true);
      states(ArenaDescriptor.EMPTY, false, false, false);
      for (long word : new long[] {claimed, ready, abandoned}) {
        assertThat(ArenaDescriptor.tagMatches(word, key)).isTrue();
        assertThat(ArenaDescriptor.tagMatches(word, new ItemKey(0, key.low() ^ 1 << 21))).isFalse();
      }
      // A claimed slot holds 40 bits of the key, a ready slot 22, an abandoned slot 62.
      ItemKey other = new ItemKey(0, key.low() ^ 1L << 39);
      assertThat(ArenaDescriptor.tagMatches(claimed, other)).isFalse();
      assertThat(ArenaDescriptor.tagMatches(ready, other)).isTrue();
      assertThat(ArenaDescriptor.tagMatches(abandoned, new ItemKey(0, key.low() ^ 1L << 61)))
          .isFalse();
      assertThat(ArenaDescriptor.tagMatches(ArenaDescriptor.EMPTY, new ItemKey(0, 0))).isFalse();
    }
  }

  private static void states(long word, boolean claimed, boolean ready, boolean abandoned) {
    assertThat(ArenaDescriptor.isClaimed(word)).isEqualTo(claimed);
    assertThat(ArenaDescriptor.isReady(word)).isEqualTo(ready);
    assertThat(ArenaDescriptor.isAbandoned(word)).isEqualTo(abandoned);
  }

  @Test
  void tablesDoubleUpToAMaximum() {
    assertThat(ArenaDescriptor.slots(0)).isEqualTo(4_096);
    assertThat(ArenaDescriptor.slots(1)).isEqualTo(8_192);
    assertThat(ArenaDescriptor.slots(9)).isEqualTo(2_097_152);
    assertThat(ArenaDescriptor.slots(10)).isEqualTo(2_097_152);
    assertThat(ArenaDescriptor.fillLimit(0)).isEqualTo(3_072);
    assertThat(ArenaDescriptor.tableBytes(0)).isEqualTo(32_768);
    long last = ArenaDescriptor.MAX_TABLES - 1;
    assertThat(ArenaDescriptor.tableOffset((int) last)).isEqualTo(256 + 8 * last);
    assertThat(ArenaDescriptor.tableFill(0)).isEqualTo(256 + 8 * (last + 1));
    assertThat(ArenaDescriptor.tableFill((int) last) + 8)
        .isEqualTo(ArenaDescriptor.DECODED_ITEMS)
        .isLessThan(ArenaDescriptor.HEADER_BYTES);
    assertThat(ArenaDescriptor.align(0)).isZero();
    assertThat(ArenaDescriptor.align(1)).isEqualTo(8);
    assertThat(ArenaDescriptor.align(8)).isEqualTo(8);
    assertThat(ArenaDescriptor.align(9)).isEqualTo(16);
  }

  // ---- memory

  @Test
  void directMemoryIsAllocatedBySegment() throws IOException {
    long segment = 64 << 20;
    DirectMemory memory = new DirectMemory(segment + 4096);
    assertThat(memory.capacity()).isEqualTo(segment + 4096);
    assertThatThrownBy(() -> memory.get(0)).isInstanceOf(IndexOutOfBoundsException.class);

    memory.write(segment + 8, new byte[] {0, 1, 2, 3}, 1, 3);

    assertThat(memory.view(segment + 8, 3).get(2)).isEqualTo((byte) 3);
    assertThat(memory.view(segment + 8, 3).isReadOnly()).isTrue();
    assertThat(memory.segment(1).capacity()).isEqualTo(4096);
    assertThatThrownBy(() -> memory.segment(0)).hasMessageContaining("never written");
    memory.set(segment + 16, 5);
    assertThat(memory.getAndAdd(segment + 16, 2)).isEqualTo(5);
    assertThat(memory.compareAndSet(segment + 16, 6, 1)).isFalse();
    assertThat(memory.compareAndSet(segment + 16, 7, 1)).isTrue();
    assertThat(memory.get(segment + 16)).isEqualTo(1);
    // An item that would cross the segment's end starts the next segment.
    assertThat(memory.fit(segment - 8, 8)).isEqualTo(segment - 8);
    assertThat(memory.fit(segment - 8, 9)).isEqualTo(segment);
    memory.writeZeros(segment, 4096);
    assertThat(memory.get(segment + 16)).isZero();
  }

  @Test
  void exactlyTheGivenRangeIsZeroed() throws IOException {
    DirectMemory memory = new DirectMemory(1 << 20);
    for (long length : new long[] {8, 1 << 16, (1 << 16) + 8, 200_000}) {
      byte[] ones = new byte[300_000];
      Arrays.fill(ones, (byte) -1);
      memory.write(0, ones, 0, ones.length);
      memory.writeZeros(64, length);
      assertThat(memory.get(56)).isEqualTo(-1);
      assertThat(memory.get(64)).isZero();
      assertThat(memory.get(64 + length - 8)).isZero();
      assertThat(memory.get(64 + length)).isEqualTo(-1);
    }
  }

  @Test
  void anArenaNotYetOpenIsEmptyAndHasNoRoom() {
    try (ArenaStore store =
        new ArenaStore(new DirectMemory(0), null, 1, job -> false, "", line -> {})) {
      assertThat(store.capacity()).isZero();
      assertThat(store.used()).isZero();
      assertThat(store.items()).isZero();
      assertThat(store.jobs()).isEqualTo(1);
      assertThat(store.rates()).isNull();
      assertThat(store.hasRoom(1)).isFalse();
    }
  }

  // ---- figures

  @Test
  void everyOpeningIsCountedOnceByOutcome() {
    StoreStatistics statistics = new StoreStatistics(null);
    Map<Outcome, Integer> times =
        Map.of(
            Outcome.HIT, 2,
            Outcome.PEER, 2,
            Outcome.ADMITTED, 4,
            Outcome.FULL, 8,
            Outcome.CHANGED, 16,
            Outcome.BUSY, 32,
            Outcome.UNREADABLE, 64,
            Outcome.SPARED, 128,
            Outcome.OBSERVED, 256);
    times.forEach(statistics::count);
    statistics.bytes(Origin.MEMORY, 10);
    statistics.bytes(Origin.PEER, 20);
    statistics.bytes(Origin.STORAGE, 30);

    times.forEach(
        (outcome, count) -> assertThat(statistics.of(outcome)).isEqualTo(count.longValue()));
    assertThat(statistics.of(Origin.STORAGE)).isEqualTo(30);
    assertThat(statistics.of(Origin.MEMORY)).isEqualTo(10);
    assertThat(statistics.of(Origin.PEER)).isEqualTo(20);
    assertThat(statistics.misses()).isEqualTo(2 + 4 + 8 + 16 + 32 + 64 + 128 + 256);
    assertThat(statistics.bypassed()).isEqualTo(8 + 16 + 32 + 64);
    assertThat(statistics.capacity()).isZero();
    assertThat(statistics.used()).isZero();
    assertThat(statistics.items()).isZero();
    assertThat(statistics.jobs()).isZero();
  }
}
