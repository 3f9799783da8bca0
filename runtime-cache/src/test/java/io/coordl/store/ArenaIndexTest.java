package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.host.Contents.Header;
import io.coordl.items.ItemKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One job uses an arena that other jobs, killed jobs or other programs have changed. */
class ArenaIndexTest {
  private static final int CAPACITY = 1 << 20;
  private static final int LENGTH = 100;
  private static final long ALIVE = 2;
  private static final long DEAD = 3;

  private final List<String> logged = new ArrayList<>();
  private final DirectMemory memory = new DirectMemory(CAPACITY);
  private ArenaStore store;

  @BeforeEach
  void make() throws IOException {
    ArenaStore.format(memory);
    store = new ArenaStore(memory, null, 1, job -> job == ALIVE, "", logged::add);
    store.measureBy(before -> false);
  }

  /** Returns a key for which probing starts at this place, modulo the size of each table. */
  private static ItemKey key(int place) {
    return new ItemKey(place, 1_000_000 + place);
  }

  private static long slot(int place) {
    return ArenaDescriptor.HEADER_BYTES + 8L * place;
  }

  private long slot(int table, int place) {
    return memory.get(ArenaDescriptor.tableOffset(table)) + 8L * place;
  }

  private Fetched fetch(int place, int length) throws IOException {
    return store.fetch(key(place), length, (target, offset) -> fill(target), Duration.ZERO);
  }

  private static boolean fill(byte[] target) {
    for (int i = ArenaDescriptor.ITEM_HEADER_BYTES; i < target.length; i++) {
      target[i] = (byte) i;
    }
    return true;
  }

  private Outcome fetch(int place) throws IOException {
    return fetch(place, LENGTH).outcome();
  }

  private boolean found(int place) {
    return store.find(key(place)) != null;
  }

  private long item(int place) {
    return ArenaDescriptor.itemOffset(memory.get(slot(place)));
  }

  private void setLength(int place, int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(length);
    memory.write(item(place) + ArenaDescriptor.ITEM_LENGTH, bytes.array(), 0, 4);
  }

  private void damage(int place) throws IOException {
    memory.write(item(place) + ArenaDescriptor.ITEM_HEADER_BYTES, new byte[] {-1}, 0, 1);
  }

  private void abandonAllBut(int... places) {
    for (int i = 0; i < ArenaDescriptor.slots(0); i++) {
      memory.set(slot(i), ArenaDescriptor.abandoned(key(10_000 + i)));
    }
    for (int place : places) {
      memory.set(slot(place), ArenaDescriptor.EMPTY);
    }
  }

  /** Adds a second table. */
  private void appendTable() throws IOException {
    memory.set(ArenaDescriptor.tableFill(0), ArenaDescriptor.fillLimit(0));
    assertThat(fetch(4000)).isEqualTo(Outcome.ADMITTED);
    assertThat(memory.get(ArenaDescriptor.TABLES)).isEqualTo(2);
  }

  // ---- layout

  @Test
  void theHeaderNamesTheOwnerAndTheLayout() {
    ArenaContents.HERE.header().write(memory, 42, CAPACITY);
    assertThat(memory.get(Header.MAGIC)).isEqualTo(ArenaDescriptor.MAGIC_VALUE);
    assertThat(memory.get(Header.VERSION)).isEqualTo(ArenaDescriptor.VERSION_VALUE);
    assertThat(memory.get(Header.LAYOUT)).isEqualTo(ArenaDescriptor.LAYOUT_VALUE);
    assertThat(memory.get(Header.UID)).isEqualTo(42);
    assertThat(memory.get(Header.CAPACITY)).isEqualTo(CAPACITY);
  }

  /** Jobs of different builds read each other's items. */
  @Test
  void anItemIsKeyLengthChecksumAndBytes() throws IOException {
    fetch(5);
    ByteBuffer item =
        memory
            .view(item(5), ArenaDescriptor.ITEM_HEADER_BYTES + LENGTH)
            .order(ByteOrder.nativeOrder());
    assertThat(item.getLong(0)).isEqualTo(key(5).high());
    assertThat(item.getLong(8)).isEqualTo(key(5).low());
    assertThat(item.getInt(16)).isEqualTo(LENGTH);
    CRC32C sum = new CRC32C();
    sum.update(item.slice(0, 20));
    sum.update(item.slice(24, LENGTH));
    assertThat(item.getInt(20)).isEqualTo((int) sum.getValue());
  }

  // ---- places

  @Test
  void aTakenPlaceIsSkippedAndProbingWrapsAround() throws IOException {
    memory.set(slot(4095), ArenaDescriptor.abandoned(key(10_000)));
    assertThat(fetch(4095)).isEqualTo(Outcome.ADMITTED);
    assertThat(ArenaDescriptor.isReady(memory.get(slot(0)))).isTrue();
    assertThat(fetch(4095)).isEqualTo(Outcome.HIT);
  }

  /** After kills, the count of taken slots is too low. */
  @Test
  void theLastFreePlaceIsUsedBeforeTheTableIsFull() throws IOException {
    abandonAllBut(6);
    assertThat(fetch(7)).isEqualTo(Outcome.ADMITTED);
    assertThat(ArenaDescriptor.isReady(memory.get(slot(6)))).isTrue();
    assertThat(found(7)).isTrue();
    Fetched refused = fetch(8, LENGTH);
    assertThat(refused.outcome()).isEqualTo(Outcome.FULL);
    assertThat(refused.content()).isNull();
    assertThat(found(8)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 8, 16, 24, CAPACITY})
  void aWordThatPointsToNoItemOfItsKeyIsSkipped(int beforeTheEnd) throws IOException {
    memory.set(slot(5), ArenaDescriptor.ready(CAPACITY - beforeTheEnd, key(5)));
    assertThat(found(5)).isFalse();
    assertThat(fetch(5)).isEqualTo(Outcome.ADMITTED);
    assertThat(found(5)).isTrue();
    assertThat(store.corrupt.sum()).isZero();
  }

  // ---- tables

  @Test
  void aTableIsAppendedWhenTheNewestIsThreeQuartersFull() throws IOException {
    memory.set(ArenaDescriptor.tableFill(0), ArenaDescriptor.fillLimit(0) - 1);
    assertThat(fetch(1)).isEqualTo(Outcome.ADMITTED);
    assertThat(memory.get(ArenaDescriptor.TABLES)).isEqualTo(1);
    assertThat(fetch(0)).isEqualTo(Outcome.ADMITTED);
    assertThat(memory.get(ArenaDescriptor.TABLES)).isEqualTo(2);
    assertThat(memory.get(ArenaDescriptor.GROWER)).isZero();
    assertThat(memory.get(ArenaDescriptor.tableFill(1))).isEqualTo(1);
    assertThat(fetch(0)).isEqualTo(Outcome.HIT);
    assertThat(fetch(1)).isEqualTo(Outcome.HIT);
  }

  @Test
  void anAppendedTableIsCleared() throws IOException {
    byte[] garbage = new byte[(int) ArenaDescriptor.tableBytes(1)];
    Arrays.fill(garbage, (byte) -1);
    memory.write(store.used(), garbage, 0, garbage.length);
    memory.set(ArenaDescriptor.tableFill(1), 77);
    appendTable();
    assertThat(memory.get(ArenaDescriptor.tableFill(1))).isEqualTo(1);
    assertThat(found(4000)).isTrue();
  }

  @Test
  void withoutRoomForATableNoItemIsAdmitted() throws IOException {
    memory.set(ArenaDescriptor.tableFill(0), ArenaDescriptor.fillLimit(0));
    memory.set(ArenaDescriptor.TAIL, CAPACITY - 1000);
    assertThat(store.hasRoom(LENGTH)).isTrue();
    assertThat(store.isFull(LENGTH)).isFalse();
    Fetched refused = fetch(1, LENGTH);
    assertThat(refused.outcome()).isEqualTo(Outcome.FULL);
    assertThat(store.isFull(LENGTH)).isTrue();
    assertThat(refused.content()).isNull();
    assertThat(memory.get(ArenaDescriptor.TABLES)).isEqualTo(1);
    assertThat(memory.get(ArenaDescriptor.GROWER)).isZero();
  }

  @Test
  void noTableIsAppendedAfterTheLast() throws IOException {
    int last = ArenaDescriptor.MAX_TABLES - 1;
    for (int table = 0; table <= last; table++) {
      memory.set(ArenaDescriptor.tableOffset(table), ArenaDescriptor.HEADER_BYTES);
    }
    memory.set(ArenaDescriptor.TABLES, ArenaDescriptor.MAX_TABLES);
    memory.set(ArenaDescriptor.tableFill(last), ArenaDescriptor.fillLimit(last));
    assertThat(fetch(1)).isEqualTo(Outcome.FULL);
    assertThat(memory.get(ArenaDescriptor.TABLES)).isEqualTo(ArenaDescriptor.MAX_TABLES);
  }

  @Test
  void anArenaWithoutATableIsDamaged() throws IOException {
    memory.set(ArenaDescriptor.TABLES, 0);
    assertThat(fetch(1)).isEqualTo(Outcome.FULL);
    assertThat(logged).hasSize(1).allMatch(line -> line.contains("(its index is gone)"));
  }

  // ---- claims

  @ParameterizedTest
  @CsvSource({"0, 1", "1, 0"})
  void aLiveJobsClaimIsAwaitedInAnyTable(int claimed, int abandoned) throws IOException {
    appendTable();
    memory.set(slot(claimed, 5), ArenaDescriptor.claimed(ALIVE, key(5)));
    memory.set(slot(abandoned, 5), ArenaDescriptor.abandoned(key(5)));
    assertThat(store.isAwaited(key(5))).isTrue();
    Fetched fetched = fetch(5, LENGTH);
    assertThat(fetched.outcome()).isEqualTo(Outcome.BUSY);
    assertThat(fetched.content()).isNull();
    assertThat(found(5)).isFalse();
  }

  @Test
  void anItemInAnOlderTableIsFoundDespiteANewerClaim() throws IOException {
    assertThat(fetch(5)).isEqualTo(Outcome.ADMITTED);
    appendTable();
    memory.set(slot(1, 5), ArenaDescriptor.claimed(ALIVE, key(5)));
    assertThat(store.isAwaited(key(5))).isFalse();
    assertThat(fetch(5)).isEqualTo(Outcome.HIT);
  }

  @Test
  void anAbandonedItemIsReadAgain() throws IOException {
    appendTable();
    memory.set(slot(0, 5), ArenaDescriptor.abandoned(key(5)));
    memory.set(slot(1, 5), ArenaDescriptor.abandoned(key(5)));
    assertThat(store.isAwaited(key(5))).isFalse();
    assertThat(fetch(5)).isEqualTo(Outcome.ADMITTED);
    assertThat(store.takenOver.sum()).isZero();
    assertThat(ArenaDescriptor.isReady(memory.get(slot(1, 5)))).as("in the newest table").isTrue();
  }

  @Test
  void theClaimOfADeadJobIsTakenOver() throws IOException {
    memory.set(slot(5), ArenaDescriptor.claimed(DEAD, key(5)));
    assertThat(store.isAwaited(key(5))).isFalse();
    assertThat(fetch(5)).isEqualTo(Outcome.ADMITTED);
    assertThat(store.takenOver.sum()).isEqualTo(1);
  }

  @Test
  void aPrivateStoreHasNoOtherLiveJob() throws IOException {
    try (ArenaStore alone = ArenaStore.openDirect(CAPACITY, logged::add)) {
      alone.memory.set(slot(5), ArenaDescriptor.claimed(ALIVE, key(5)));
      assertThat(alone.isAwaited(key(5))).isFalse();
      Fetched fetched = alone.fetch(key(5), 1, (target, offset) -> true);
      assertThat(fetched.outcome()).isEqualTo(Outcome.ADMITTED);
    }
  }

  @Test
  void aTakenOverClaimYieldsToALiveOneInAnotherTable() throws IOException {
    appendTable();
    memory.set(slot(0, 5), ArenaDescriptor.claimed(ALIVE, key(5)));
    memory.set(slot(1, 5), ArenaDescriptor.claimed(DEAD, key(5)));
    assertThat(fetch(5)).isEqualTo(Outcome.BUSY);
    assertThat(memory.get(slot(1, 5))).isEqualTo(ArenaDescriptor.abandoned(key(5)));
  }

  @Test
  void anItemIsAwaitedWhileItIsRead() throws IOException {
    List<Boolean> awaited = new ArrayList<>();
    store.fetch(
        key(5),
        LENGTH,
        (target, offset) -> {
          awaited.add(store.isAwaited(key(5)));
          awaited.add(store.isAwaited(key(6)));
          return true;
        });
    assertThat(awaited).containsExactly(true, false);
    assertThat(store.isAwaited(key(5))).isFalse();
  }

  @Test
  void anItemReadUnderALostClaimIsServedButNotKept() throws IOException {
    long others = ArenaDescriptor.claimed(ALIVE, key(5));
    Fetched fetched =
        store.fetch(
            key(5),
            LENGTH,
            (target, offset) -> {
              memory.set(slot(5), others);
              return fill(target);
            });
    assertThat(fetched.outcome()).isEqualTo(Outcome.BUSY);
    assertThat(fetched.content().get(3)).isEqualTo((byte) (24 + 3));
    assertThat(memory.get(slot(5))).isEqualTo(others);
    assertThat(store.items()).isZero();
  }

  // ---- room

  @Test
  void anItemMayUseTheLastByte() throws IOException {
    long left = CAPACITY - store.used();
    int length = (int) left - ArenaDescriptor.ITEM_HEADER_BYTES;
    assertThat(store.hasRoom(length + 1)).isFalse();
    assertThat(store.isFull(length + 1)).isTrue();
    assertThat(store.isFull(length)).isFalse();
    assertThat(store.hasRoom(length)).isTrue();
    assertThat(fetch(5, length).outcome()).isEqualTo(Outcome.ADMITTED);
    assertThat(store.used()).isEqualTo(CAPACITY);
    store.forgetChecks();
    assertThat(found(5)).isTrue();
  }

  @Test
  void anEmptyItemMayEndTheArena() throws IOException {
    memory.set(ArenaDescriptor.TAIL, CAPACITY - ArenaDescriptor.ITEM_HEADER_BYTES);
    assertThat(fetch(5, 0).outcome()).isEqualTo(Outcome.ADMITTED);
    store.forgetChecks();
    assertThat(store.find(key(5)).remaining()).isZero();
    assertThat(store.corrupt.sum()).isZero();
  }

  @Test
  void anEmptyItemMayEndASegment() throws IOException {
    DirectMemory segments = new DirectMemory(65 << 20);
    ArenaStore.format(segments);
    segments.set(ArenaDescriptor.TAIL, (64 << 20) - ArenaDescriptor.ITEM_HEADER_BYTES);
    store = new ArenaStore(segments, null, 1, job -> false, "", logged::add);
    assertThat(fetch(5, 0).outcome()).isEqualTo(Outcome.ADMITTED);
    store.forgetChecks();
    assertThat(store.find(key(5)).remaining()).isZero();
  }

  @Test
  void theLongestItemIsKeptAndALongerOneIsNot() throws IOException {
    int longest = ArenaDescriptor.MAX_ITEM_BYTES;
    try (ArenaStore large = ArenaStore.openDirect(16 << 20, logged::add)) {
      Fetched fetched = large.fetch(key(5), longest, (target, offset) -> true);
      assertThat(fetched.outcome()).isEqualTo(Outcome.ADMITTED);
      large.forgetChecks();
      assertThat(large.find(key(5)).remaining()).isEqualTo(longest);
    }
    try (ArenaStore large = ArenaStore.openDirect(16 << 20, logged::add)) {
      assertThat(large.hasRoom(longest)).isTrue();
      assertThat(large.hasRoom(longest + 1)).isFalse();
    }
  }

  @Test
  void anItemThatNoLongerFitsOnceReadIsServedButNotKept() throws IOException {
    int left = (int) (CAPACITY - store.used());
    Fetched fetched =
        store.fetch(
            key(5),
            LENGTH,
            (target, offset) -> {
              assertThat(fetch(6, left - 50).outcome()).isEqualTo(Outcome.ADMITTED);
              return fill(target);
            });
    assertThat(fetched.outcome()).isEqualTo(Outcome.FULL);
    assertThat(fetched.content().get(3)).isEqualTo((byte) (24 + 3));
    assertThat(memory.get(slot(5))).isEqualTo(ArenaDescriptor.abandoned(key(5)));
    assertThat(found(6)).isTrue();
  }

  @Test
  void anAbandonedItemIsNotClaimedAgainWithoutRoom() throws IOException {
    memory.set(slot(5), ArenaDescriptor.abandoned(key(5)));
    store.measureBy(before -> true);
    Fetched fetched = fetch(5, LENGTH);
    assertThat(fetched.outcome()).isEqualTo(Outcome.FULL);
    assertThat(fetched.content()).isNull();
    assertThat(memory.get(slot(5))).isEqualTo(ArenaDescriptor.abandoned(key(5)));
  }

  /** Memory is checked once per 1/32 of the budget. */
  @Test
  void memoryIsCheckedOncePerPartOfTheBudget() throws IOException {
    AtomicInteger checks = new AtomicInteger(-1);
    store.measureBy(
        before -> {
          checks.incrementAndGet();
          return false;
        });
    long part = CAPACITY / 32;
    int header = ArenaDescriptor.ITEM_HEADER_BYTES;
    fetch(1, (int) (2 * part - store.used() - header)); // To the end of a part.
    assertThat(checks).hasValue(1);
    fetch(2, (int) part / 2 - header);
    assertThat(checks).hasValue(1);
    fetch(3, (int) part / 2 - header);
    assertThat(checks).hasValue(2);
  }

  // ---- checks

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void onlyItemsThisProcessWroteOrCheckedAreTrusted(boolean joined) throws IOException {
    for (int place : new int[] {65, 66, 67}) {
      fetch(place);
    }
    if (joined) {
      store.forgetChecks();
      assertThat(found(65)).isTrue();
      assertThat(found(66)).isTrue();
    }
    for (int place : new int[] {65, 66, 67}) {
      damage(place);
    }
    assertThat(found(65)).isTrue();
    assertThat(found(66)).isTrue();
    assertThat(found(67)).isEqualTo(!joined);
    assertThat(store.corrupt.sum()).isEqualTo(joined ? 1 : 0);
  }

  @Test
  void itemsAreCheckedSeparatelyInEachTable() throws IOException {
    fetch(0);
    appendTable();
    memory.set(slot(1, 0), memory.get(slot(1, 4000))); // The word of another item.
    fetch(8191);
    assertThat(ArenaDescriptor.isReady(memory.get(slot(1, 8191)))).isTrue();
    store.forgetChecks();
    assertThat(found(8191)).isTrue();
    damage(0);
    assertThat(found(0)).isFalse();
    assertThat(found(8191)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, Integer.MIN_VALUE, LENGTH + 8, LENGTH - 1, CAPACITY, 8 << 20, 9 << 20})
  void anItemOfAWrongLengthIsReadAgain(int length) throws IOException {
    memory.set(ArenaDescriptor.TAIL, CAPACITY - 256);
    assertThat(fetch(4)).isEqualTo(Outcome.ADMITTED);
    assertThat(fetch(5)).isEqualTo(Outcome.ADMITTED); // The last 24 + 100 + 4 bytes.
    memory.set(ArenaDescriptor.TAIL, 1 << 16);
    store.forgetChecks();
    setLength(5, length);
    assertThat(found(5)).isFalse();
    assertThat(memory.get(slot(5))).isEqualTo(ArenaDescriptor.abandoned(key(5)));
    assertThat(store.corrupt.sum()).isEqualTo(1);
    assertThat(found(4)).isTrue();
    assertThat(fetch(5)).isEqualTo(Outcome.ADMITTED);
    assertThat(store.find(key(5)).remaining()).isEqualTo(LENGTH);
  }
}
