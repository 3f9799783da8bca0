package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Items, readers and memory when a store gives segments back. */
class GivingBackTest {
  private static final long MIB = 1 << 20;
  private static final int LENGTH = 1 << 20;
  private static final int ITEMS = 150;
  private static final long SEGMENT = PrivateMemory.MIN_SEGMENT;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir Path directory;

  /** Private to this test: other tests in this JVM have files in shared memory, too. */
  private Path shared;

  private final List<String> logged = new ArrayList<>();

  @BeforeEach
  void makeDirectory() throws IOException {
    shared = Files.createTempDirectory(Path.of("/dev/shm"), "giving-back-");
  }

  @AfterEach
  void removeDirectory() throws IOException {
    Files.delete(shared);
  }

  private static byte[] content(int item) {
    byte[] bytes = new byte[LENGTH];
    new Random(item).nextBytes(bytes);
    return bytes;
  }

  private static Loader loader(int item) {
    return (target, offset) -> {
      System.arraycopy(content(item), 0, target, offset, LENGTH);
      return true;
    };
  }

  private static Outcome fetch(ArenaStore store, int item) throws IOException {
    return store.fetch(Items.key(item), LENGTH, loader(item)).outcome();
  }

  private ArenaStore filled() throws IOException {
    ArenaStore store = ArenaStore.openProcess(shared, ByteBudget.parse("160m"), logged::add);
    for (int item = 0; item < ITEMS; item++) {
      assertThat(fetch(store, item)).isEqualTo(Outcome.ADMITTED);
    }
    return store;
  }

  /** Returns how many bytes of this test's files are mapped and in memory. */
  private long mapped() throws IOException {
    long bytes = 0;
    boolean ours = false;
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
      if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
        ours = line.contains(shared + "/");
      } else if (ours && line.startsWith("Rss:")) {
        bytes += Long.parseLong(line.replaceAll("\\D", "")) << 10;
      }
    }
    return bytes;
  }

  private void awaitMapped(long limit) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (mapped() > limit) {
      assertThat(System.nanoTime())
          .as("%s bytes mapped, not at most %s", mapped(), limit)
          .isLessThan(deadline);
      System.gc();
      Thread.onSpinWait();
    }
  }

  private static void awaitPinned(ArenaStore store, long limit) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (store.pinned() > limit) {
      assertThat(System.nanoTime())
          .as("%s bytes pinned, not at most %s", store.pinned(), limit)
          .isLessThan(deadline);
      System.gc();
    }
  }

  @Test
  void theNewestSegmentsAreGivenBackAndNothingMoreIsAdmitted() throws Exception {
    try (ArenaStore store = filled()) {
      long held = store.held();
      long given = store.giveBack(40 * MIB);
      assertThat(given).isBetween(40 * MIB, 40 * MIB + SEGMENT);
      assertThat(store.used()).isEqualTo(held - given).isEqualTo(store.held());
      assertThat(store.givenBack()).isEqualTo(given);
      int found = 0;
      for (int item = 0; item < ITEMS; item++) {
        ByteBuffer view = store.find(Items.key(item));
        if (view != null) {
          found++;
          assertThat(item).as("the oldest stay").isLessThan((int) (store.used() / LENGTH));
          assertThat(Items.bytes(view)).isEqualTo(content(item));
        }
      }
      assertThat(found).isBetween((int) (store.used() / MIB) - 4, (int) (store.used() / MIB));
      assertThat(fetch(store, 0)).isEqualTo(Outcome.HIT);
      assertThat(fetch(store, ITEMS - 1)).isEqualTo(Outcome.FULL);
      assertThat(fetch(store, ITEMS + 7)).isEqualTo(Outcome.FULL);
      assertThat(store.hasRoom(1)).isFalse();
      assertThat(store.isFull(1)).isTrue();
      StoreStatistics statistics = new StoreStatistics(store);
      assertThat(statistics.used()).isEqualTo(store.used());
      assertThat(statistics.givenBack()).isEqualTo(given);
      assertThat(statistics.items()).isBetween(found - 4L, found + 4L);
      awaitMapped(store.used() + ITEMS * 4096L); // Memory is mapped in whole pages.
    }
    assertThat(logged).isEmpty();
  }

  @Test
  void givingBackTheLastSegmentEndsTheStore() throws Exception {
    ArenaStore store = filled();
    long held = store.held();
    assertThat(store.giveBack(Long.MAX_VALUE)).isEqualTo(held);
    assertThat(store.held()).isZero();
    assertThat(store.used()).isZero();
    assertThat(store.items()).isZero();
    assertThat(store.givenBack()).isEqualTo(held);
    assertThat(store.giveBack(1)).isZero();
    assertThat(store.find(Items.key(0))).isNull();
    assertThat(fetch(store, 0)).isEqualTo(Outcome.FULL);
    assertThat(store.isAwaited(Items.key(0))).isFalse();
    awaitMapped(0);
    store.close();
    assertThat(logged).isEmpty();
  }

  @Test
  void aSegmentWithAViewStaysMappedAndReadable() throws Exception {
    try (ArenaStore store = filled()) {
      int item = ITEMS - 1;
      ByteBuffer view = store.find(Items.key(item));
      long held = store.held();
      store.giveBack(Long.MAX_VALUE);
      awaitMapped(SEGMENT);
      assertThat(held).isGreaterThan(4 * SEGMENT);
      assertThat(mapped()).isPositive();
      assertThat(Items.bytes(view)).isEqualTo(content(item));
      view = null;
      awaitMapped(0);
    }
  }

  @Test
  void aViewPinsOnlyItsSegment() throws Exception {
    try (ArenaStore store = filled()) {
      List<ByteBuffer> views = new ArrayList<>();
      for (int item = 0; item < ITEMS; item += 30) {
        views.add(store.find(Items.key(item)));
      }
      long held = store.held();
      assertThat(store.giveBack(Long.MAX_VALUE)).isEqualTo(held);
      awaitPinned(store, views.size() * SEGMENT);
      assertThat(store.pinned()).isBetween(views.size() * MIB, views.size() * SEGMENT);
      for (int item = 0; item < ITEMS; item += 30) {
        assertThat(Items.bytes(views.get(item / 30))).isEqualTo(content(item));
      }
      views.clear();
      awaitPinned(store, 0);
      awaitMapped(0);
    }
  }

  @Test
  void readersSeeCorrectBytesWhileSegmentsAreGivenBack() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    ArenaStore store = filled();
    try {
      CountDownLatch reading = new CountDownLatch(4);
      List<Future<Long>> readers = new ArrayList<>();
      for (int reader = 0; reader < 4; reader++) {
        Random random = new Random(reader);
        Callable<Long> work =
            () -> {
              long hits = 0;
              while (store.held() > 0) {
                int item = random.nextInt(ITEMS);
                ByteBuffer view =
                    random.nextBoolean()
                        ? store.find(Items.key(item))
                        : store.fetch(Items.key(item), LENGTH, loader(item)).content();
                if (view != null) {
                  Thread.onSpinWait();
                  if (!Arrays.equals(Items.bytes(view), content(item))) {
                    throw new AssertionError("wrong bytes of item " + item);
                  }
                  if (hits++ == 0) { // Once per reader, so that all of them have read.
                    reading.countDown();
                  }
                }
              }
              return hits;
            };
        readers.add(threads.submit(work));
      }
      assertThat(reading.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      while (store.giveBack(32 * MIB) > 0) {
        System.gc();
      }
      for (Future<Long> reader : readers) {
        assertThat(reader.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isPositive();
      }
      awaitMapped(0);
    } finally {
      threads.shutdownNow();
      store.close();
    }
    assertThat(logged).isEmpty();
  }

  @Test
  void aWriterSurvivesTheLossOfItsSegment() throws Exception {
    try (ArenaStore store = filled()) {
      Fetched fetched =
          store.fetch(
              Items.key(ITEMS),
              LENGTH,
              (target, offset) -> {
                store.giveBack(40 * MIB);
                return loader(ITEMS).load(target, offset);
              });
      assertThat(fetched.outcome()).isEqualTo(Outcome.FULL);
      assertThat(Items.bytes(fetched.content())).isEqualTo(content(ITEMS));
      assertThat(store.find(Items.key(ITEMS))).isNull();
      assertThat(fetch(store, 1)).isEqualTo(Outcome.HIT);
    }
    assertThat(logged).isEmpty();
  }

  @Test
  void directBuffersAreGivenBackToo() throws Exception {
    try (ArenaStore store = ArenaStore.openDirect(160 << 20, logged::add)) {
      for (int item = 0; item < ITEMS; item++) {
        fetch(store, item);
      }
      assertThat(store.giveBack(1)).isPositive();
      assertThat(Items.bytes(store.find(Items.key(3)))).isEqualTo(content(3));
      assertThat(store.find(Items.key(ITEMS - 1))).isNull();
      DirectMemory memory = (DirectMemory) store.memory;
      assertThatThrownBy(() -> memory.write(store.used() + 8, new byte[8], 0, 8))
          .isInstanceOf(GivenBackException.class);
    }
  }

  @Test
  void aGroupsStoreIsGivenBackWholeAndItsFileIsDeleted() throws Exception {
    ArenaStore store =
        ArenaStore.openHost(directory, "group", ByteBudget.parse("auto"), logged::add);
    assertThat(store.yields()).isTrue();
    fetch(store, 1);
    ByteBuffer view = store.find(Items.key(1));
    Path file = store.shared.path();
    assertThat(file).exists();
    // Another job requests the memory back.
    store.memory.set(ArenaDescriptor.GIVEN_BACK, 1);
    store.follow();
    assertThat(file).doesNotExist();
    assertThat(store.held()).isZero();
    assertThat(store.find(Items.key(1))).isNull();
    assertThat(Items.bytes(view)).isEqualTo(content(1));
    assertThat(logged)
        .containsExactly("Another job of group group is short of memory: the cache is given back.");
    store.follow();
    store.close();
    assertThat(logged).hasSize(1);

    ArenaStore own = ArenaStore.openHost(directory, "group", ByteBudget.parse("auto"), logged::add);
    fetch(own, 1);
    long held = own.held();
    assertThat(own.giveBack(1)).as("a shared file is given back whole").isEqualTo(held);
    assertThat(file).doesNotExist();
    own.close();
  }

  @Test
  void noJobJoinsAStoreThatIsBeingGivenBack() throws Exception {
    ArenaStore store = ArenaStore.openHost(directory, "late", ByteBudget.parse("2m"), logged::add);
    assertThat(store.yields()).as("its budget is explicit").isFalse();
    store.memory.set(ArenaDescriptor.GIVEN_BACK, 1);
    assertThatThrownBy(
            () ->
                ArenaContents.HERE.enter(
                    store.memory, 2, store.shared.liveness(), store.shared.path()))
        .hasMessageEndingWith("is being given back, since memory is short: nothing is cached.");
    store.close();
  }

  /** The race is between reading the slot and the bytes; about one round in four hits it. */
  @Test
  void aTableGivenBackDuringALookupIsNotAFault() throws Exception {
    for (int round = 0; round < 30; round++) {
      ArenaStore store =
          ArenaStore.openProcess(Path.of("/dev/shm"), ByteBudget.parse("64m"), logged::add);
      for (int item = 0; item < 14_000; item++) { // The third table will be given back.
        store.fetch(Items.key(item), 4000, (target, offset) -> true);
      }
      CountDownLatch reading = new CountDownLatch(1);
      ExecutorService reader = Executors.newSingleThreadExecutor();
      Future<?> read =
          reader.submit(
              () -> {
                Random random = new Random();
                while (store.find(Items.key(9_500 + random.nextInt(4_000))) != null) {
                  reading.countDown();
                }
              });
      reader.shutdown();
      assertThat(reading.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      store.giveBack(30 * MIB);
      read.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      store.close();
    }
  }

  @Test
  void givenBackBytesAreCountedCorrectlyDuringAdmission() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(3);
    try {
      for (int round = 0; round < 100; round++) {
        try (ArenaStore store =
            ArenaStore.openProcess(shared, ByteBudget.parse("64m"), logged::add)) {
          List<Future<Void>> readers = new ArrayList<>();
          for (int thread = 0; thread < 3; thread++) {
            int first = thread << 20;
            readers.add(
                pool.submit(
                    () -> {
                      for (int item = first; item < first + 2000; item++) {
                        store.fetch(Items.key(item), 1 << 16, (target, offset) -> true);
                      }
                      return null;
                    }));
          }
          while (store.used() < SEGMENT) {
            Thread.onSpinWait();
          }
          long given = store.giveBack(Math.floorMod(round, 7) * MIB);
          assertThat(given).isNotNegative().isEqualTo(store.givenBack());
          for (Future<Void> reader : readers) {
            reader.get();
          }
          assertThat(store.used()).isNotNegative();
        }
      }
    } finally {
      pool.shutdownNow();
    }
  }
}
