package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Raw and decoded items in one arena: memory goes to the form that saves more time per byte. */
class KeptFormsTest {
  private static final DecodedForm FORM = DecodedForm.of("library 1");
  private static final int RAW = 20_000;
  private static final int DECODED = 100_000;

  /** Has room for 100 raw items and about 20 decoded ones, or for about 40 decoded ones alone. */
  private static final String BUDGET = "4m";

  private static final Rates SLOW_DISK = new Rates(RAW, DECODED, 10_000_000, 1_000_000);
  private static final Rates PAGE_CACHE = new Rates(RAW, DECODED, 50_000, 2_000_000);

  @TempDir Path directory;
  @TempDir Path memory;
  private ArenaStore arena;
  private MinioCache raw;
  private DecodedStore decoded;

  @BeforeEach
  void open() {
    arena = ArenaStore.openProcess(memory, ByteBudget.parse(BUDGET), line -> {});
    join();
  }

  /** Joins as another job of the group, which shares only the arena. */
  private void join() {
    KeptForms forms = new KeptForms(arena);
    raw = new MinioCache(arena, path -> true, forms, () -> true);
    decoded = new DecodedStore(arena, path -> true, forms, () -> true);
  }

  @AfterEach
  void close() {
    arena.close();
  }

  @ParameterizedTest
  @CsvSource({
    // raw bytes, decoded bytes, read ns, decode ns
    "33000, 360000, 50000, 1800000, false, the page cache",
    "33000, 360000, 5000000, 1800000, true, a network file system",
    "33000, 360000, 180000, 1800000, false, just not slow enough",
    "33000, 360000, 183000, 1800000, true, just slow enough",
    "33000, 150000, 0, 1, false, reading costs nothing",
    "33000, 150000, 1, 0, true, decoding costs nothing",
    "150000, 33000, 1000000000, 0, false, decoded items are smaller",
    "1000, 1000, 1000000, 0, false, no difference",
    "1, 8388608, 1000000, 9000000, true, a picture of one colour",
    "9000000000000000000, 1, 9000000000000000000, 1, false, no overflow"
  })
  void memoryGoesToTheFormWhoseBytesSaveMore(
      long rawBytes, long decodedBytes, long read, long decode, boolean rawFirst, String why) {
    assertThat(new Rates(rawBytes, decodedBytes, read, decode).rawFirst())
        .as(why)
        .isEqualTo(rawFirst);
  }

  /** One epoch of a program that decodes every file. */
  private void epoch(int files) throws IOException {
    for (int i = 0; i < files; i++) {
      Path file = directory.resolve("item" + i);
      if (!Files.exists(file)) {
        Items.file(directory, "item" + i, RAW);
      }
      use(file, DECODED);
    }
  }

  private void use(Path file, int length) {
    DecodedItem item = decoded.item(file.toString());
    if (item.find(FORM) == null) {
      OpenItem opened = raw.open(file.toString());
      opened.close();
      item.put(FORM, length, target -> target.put(new byte[length]));
    }
  }

  @Test
  void theFirstQuarterOfTheBudgetKeepsBothForms() throws IOException {
    epoch(8);
    assertThat(raw.statistics().items()).isEqualTo(8);
    assertThat(decoded.statistics().items()).isEqualTo(8);
    assertThat(decoded.statistics().used()).isBetween(8L * DECODED, 8L * (DECODED + 40));
    assertThat(raw.statistics().used()).isBetween(8L * RAW, 8L * (RAW + 40) + 50_000);
  }

  @Test
  void withSlowStorageRawItemsArePreferredAndPixelsGetTheRest() throws IOException {
    arena.choose(SLOW_DISK);
    epoch(100);
    assertThat(raw.statistics().items()).isEqualTo(100);
    assertThat(decoded.statistics().items()).isZero();
    assertThat(decoded.statistics().of(Outcome.SPARED)).isEqualTo(100);
    assertThat(decoded.statistics().of(Origin.STORAGE)).isEqualTo(100 * DECODED);

    epoch(100);
    assertThat(raw.statistics().of(Outcome.HIT)).isEqualTo(100);
    assertThat(decoded.statistics().items()).isBetween(15L, 25L);
    assertThat(arena.used()).isBetween(arena.capacity() - DECODED - 40, arena.capacity());
  }

  @Test
  void withSlowDecodingOnlyDecodedItemsAreKept() throws IOException {
    arena.choose(PAGE_CACHE);
    epoch(100);
    assertThat(decoded.statistics().items()).isBetween(38L, 42L);
    assertThat(raw.statistics().items()).isZero();
    assertThat(raw.statistics().of(Outcome.SPARED)).isEqualTo(100);
    assertThat(raw.statistics().of(Origin.STORAGE)).isEqualTo(100 * RAW);
    assertThat(raw.statistics().of(Outcome.FULL)).isZero();

    epoch(100);
    assertThat(decoded.statistics().of(Outcome.HIT)).isBetween(38L, 42L);
    assertThat(raw.statistics().items()).isLessThan(5);
  }

  @Test
  void itemsTooLargeToKeepDecodedAreKeptRawFromEpochTwo() throws IOException {
    arena.choose(PAGE_CACHE);
    Path file = Items.file(directory, "huge", RAW);
    for (int epoch = 0; epoch < 3; epoch++) {
      use(file, DecodedStore.MAX_BYTES + 1);
    }
    assertThat(raw.statistics().items()).isEqualTo(1);
    assertThat(raw.statistics().of(Outcome.HIT)).isEqualTo(1);
  }

  /** Prefetches like {@code prefetch=N}: checks whether an item is cached, then decodes it. */
  private void prefetch(int files) throws Exception {
    FutureTask<Void> prefetching =
        new FutureTask<>(
            () -> {
              raw.prefetchesHere();
              for (int i = 0; i < files; i++) {
                Path file = Items.file(directory, "item" + i, RAW);
                decoded.item(file.toString()).isKept(FORM);
                use(file, DECODED);
              }
              return null;
            });
    new Thread(prefetching).start();
    prefetching.get();
  }

  @Test
  void prefetchingDoesNotCountAsASecondUse() throws Exception {
    arena.choose(SLOW_DISK);
    prefetch(20);
    epoch(20);
    assertThat(raw.statistics().items()).isEqualTo(20);
    assertThat(decoded.statistics().items()).isZero();

    epoch(20);
    assertThat(decoded.statistics().items()).isEqualTo(20);
  }

  @Test
  void readsWithoutDecodingAreKeptWhicheverFormComesFirst() throws IOException {
    arena.choose(PAGE_CACHE);
    decoded.item(Items.file(directory, "picture", RAW).toString());
    raw.open(Items.file(directory, "labels", RAW).toString()).close();
    assertThat(raw.statistics().items()).isEqualTo(1);
  }

  @Test
  void aKeptRawItemIsAHitWhicheverFormComesFirst() throws IOException {
    Path file = Items.file(directory, "early", RAW);
    raw.open(file.toString()).close();
    arena.choose(PAGE_CACHE);
    decoded.item(file.toString());
    OpenItem opened = raw.open(file.toString());
    assertThat(opened.origin()).isEqualTo(Origin.MEMORY);
    assertThat(Items.bytes(opened.content())).isEqualTo(Files.readAllBytes(file));
  }

  /** The choice uses the measured times, and is made once a quarter of the budget is used. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1_000_000_000})
  void theChoiceUsesTheLastItemsOfTheFirstQuarter(long decodeNanos) throws IOException {
    assertThat(arena.rates()).isNull();
    for (int i = 0; arena.rates() == null; i++) {
      Path file = Items.file(directory, "item" + i, RAW);
      DecodedItem item = decoded.item(file.toString());
      raw.open(file.toString()).close();
      assertThat(item.readNanos.get()).isPositive();
      item.addProducingTime(item.readNanos.get() + decodeNanos + 1);
      boolean quarterUsed = arena.used() >= arena.capacity() / 4;
      item.put(FORM, DECODED, target -> target.put(new byte[DECODED]));
      assertThat(arena.rates() != null).isEqualTo(quarterUsed);
    }
    Rates rates = arena.rates();
    assertThat(rates.rawBytes()).isEqualTo(RAW);
    assertThat(rates.decodedBytes()).isEqualTo(DECODED);
    assertThat(rates.readNanos()).isPositive();
    assertThat(rates.decodeNanos()).isEqualTo(decodeNanos + 1);
    assertThat(rates.rawFirst()).isEqualTo(decodeNanos == 0);
  }

  @Test
  void theChoiceIsMadeOnceForAllJobs() throws IOException {
    arena.choose(SLOW_DISK);
    arena.choose(PAGE_CACHE);
    join();
    assertThat(arena.rates()).isEqualTo(SLOW_DISK);
    epoch(1);
    assertThat(raw.statistics().items()).isEqualTo(1);
    assertThat(decoded.statistics().items()).isZero();
  }

  @Test
  void itemsAlreadyInMemoryAreNotMeasured() throws IOException {
    for (int i = 0; i < 60; i++) {
      raw.open(Items.file(directory, "item" + i, RAW).toString()).close();
    }
    for (int i = 0; i < 20; i++) {
      DecodedItem item = decoded.item(directory.resolve("item" + i).toString());
      raw.open(directory.resolve("item" + i).toString()).close();
      item.addProducingTime(1_000_000);
      item.put(FORM, DECODED, target -> target.put(new byte[DECODED]));
    }
    assertThat(arena.rates()).isNull();
    assertThat(decoded.statistics().items()).isEqualTo(20);
  }

  private DecodedItem unread(String name) throws IOException {
    return decoded.item(Items.file(directory, name, RAW).toString());
  }

  private static void put(DecodedItem item, int length) {
    item.put(FORM, length, target -> target.put(new byte[length]));
  }

  @Test
  void noChoiceIsMadeEightBytesBeforeAQuarter() throws IOException {
    int left = (int) (arena.capacity() / 4 - arena.used()) - ArenaDescriptor.ITEM_HEADER_BYTES;
    arena.fetch(Items.key(1), left - 8, (target, offset) -> true);
    DecodedItem first = unread("first");
    first.readNanos.addAndGet(1000);
    first.addProducingTime(2000);
    put(first, DECODED);
    assertThat(arena.rates()).isNull();
    assertThat(arena.used()).isGreaterThan(arena.capacity() / 4);
  }

  @Test
  void aChoiceIsMadeAtExactlyAQuarter() throws IOException {
    int left = (int) (arena.capacity() / 4 - arena.used()) - ArenaDescriptor.ITEM_HEADER_BYTES;
    arena.fetch(Items.key(1), left, (target, offset) -> true);
    DecodedItem first = unread("first");
    first.readNanos.addAndGet(1000);
    first.addProducingTime(2000);
    put(first, DECODED);
    assertThat(arena.rates()).isEqualTo(new Rates(RAW, DECODED, 1000, 1000));
  }

  @Test
  void inconclusiveTimesAreIgnored() throws IOException {
    arena.fetch(Items.key(1), 1 << 20, (target, offset) -> true);
    DecodedItem onlyRead = unread("only read");
    onlyRead.readNanos.addAndGet(1000);
    onlyRead.addProducingTime(1000);
    put(onlyRead, DECODED);
    assertThat(arena.rates()).as("decoding took no time").isNull();

    DecodedItem neverRead = unread("never read");
    neverRead.addProducingTime(1000);
    put(neverRead, RAW);
    assertThat(arena.rates()).as("no smaller than the file, and never read").isNull();

    DecodedItem smaller = unread("smaller");
    smaller.addProducingTime(1000);
    put(smaller, RAW - 1);
    assertThat(arena.rates()).isEqualTo(new Rates(RAW, RAW - 1, 0, 1000));
  }

  @Test
  void blocksOfLargeFilesAreNotKeptIfDecodedItemsComeFirst() throws IOException {
    arena.choose(PAGE_CACHE);
    Path large = Items.file(directory, "large", MinioCache.WHOLE_LIMIT + 1);
    decoded.item(large.toString());
    OpenItem opened = raw.open(large.toString());
    assertThat(opened.read(0, new byte[10], 0, 10)).isEqualTo(10);
    opened.close();
    assertThat(arena.items()).isZero();

    decoded.item(large.toString()); // The second use.
    opened = raw.open(large.toString());
    assertThat(opened.read(0, new byte[10], 0, 10)).isEqualTo(10);
    opened.close();
    assertThat(arena.items()).isEqualTo(1);
  }
}
