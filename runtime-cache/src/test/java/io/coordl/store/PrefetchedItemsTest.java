package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.items.ItemKey;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Prefetched items wait for one reader, within a budget. */
final class PrefetchedItemsTest {
  private static ItemKey key(long number) {
    return new ItemKey(number, number);
  }

  private static ByteBuffer bytes(int length) {
    return ByteBuffer.allocate(length);
  }

  @Test
  void anItemIsServedOnce() {
    PrefetchedItems items = new PrefetchedItems(10);
    ByteBuffer content = bytes(10);
    items.put(key(1), content);
    assertThat(items.has(key(1))).isTrue();
    assertThat(items.take(key(1))).isSameAs(content);
    assertThat(items.take(key(1))).isNull();
    assertThat(items.makeRoom(10)).isTrue();
  }

  @Test
  void anItemWithoutRoomDoesNotEvictAnEarlierOne() {
    PrefetchedItems items = new PrefetchedItems(10);
    items.put(key(1), bytes(6));
    items.put(key(2), bytes(6));
    assertThat(items.has(key(1))).isTrue();
    assertThat(items.has(key(2))).isFalse();
    assertThat(items.makeRoom(4)).isTrue();
    assertThat(items.makeRoom(5)).isFalse();
  }

  @Test
  void itemsUnusedForManyReadsAreEvicted() {
    PrefetchedItems items = new PrefetchedItems(10);
    items.put(key(1), bytes(10));
    for (int i = 0; i < 2_048; i++) {
      items.take(key(100 + i));
    }
    assertThat(items.makeRoom(1)).isFalse();
    items.take(key(99));
    assertThat(items.makeRoom(1)).isTrue();
    assertThat(items.has(key(1))).isFalse();
  }

  @Test
  void anItemPutTwiceCountsOnce() {
    PrefetchedItems items = new PrefetchedItems(10);
    items.put(key(1), bytes(5));
    items.put(key(1), bytes(5));
    assertThat(items.makeRoom(5)).isTrue();
  }
}
