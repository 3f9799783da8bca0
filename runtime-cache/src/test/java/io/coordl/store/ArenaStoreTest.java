package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.host.Contents.Header;
import io.coordl.host.Machine;
import io.coordl.host.SharedFile;
import io.coordl.items.ItemKey;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The store's guarantees that can be checked in one process. */
class ArenaStoreTest {
  private final List<String> logged = new ArrayList<>();
  @TempDir Path directory;

  private ArenaStore process(String budget) {
    return ArenaStore.openProcess(directory, ByteBudget.parse(budget), logged::add);
  }

  private ArenaStore host(String group) throws IOException {
    return ArenaStore.openHost(directory, group, ByteBudget.parse("8m"), logged::add);
  }

  private Path file(String group) throws IOException {
    return SharedFile.path(directory, Machine.user(), group, ArenaContents.HERE);
  }

  @Test
  void anItemReadOnceIsFound() throws IOException {
    try (ArenaStore store = process("8m")) {
      assertThat(store.find(Items.key(1))).isNull();
      Fetched first = store.fetch(Items.key(1), Items.length(1), Items.loader(1));
      Fetched second = store.fetch(Items.key(1), Items.length(1), Items.loader(2));
      assertThat(first.outcome()).isEqualTo(Outcome.ADMITTED);
      assertThat(second.outcome()).isEqualTo(Outcome.HIT);
      assertThat(Items.bytes(first.content())).isEqualTo(Items.content(1));
      assertThat(Items.bytes(second.content())).isEqualTo(Items.content(1));
      assertThat(second.content().isReadOnly()).isTrue();
      assertThat(store.items()).isEqualTo(1);
    }
  }

  @Test
  void processScopeLeavesNoNameInTheFileSystem() throws IOException {
    try (ArenaStore store = process("8m")) {
      store.fetch(Items.key(1), Items.length(1), Items.loader(1));
      assertThat(directory).isEmptyDirectory();
    }
  }

  @Test
  void aFullStoreRefusesNewItemsAndKeepsItsOwn() throws IOException {
    try (ArenaStore store = process("1m")) {
      int admitted = 0;
      for (int i = 0; i < 200; i++) {
        Fetched fetched = store.fetch(Items.key(i), Items.length(i), Items.loader(i));
        assertThat(fetched.outcome()).isIn(Outcome.ADMITTED, Outcome.FULL);
        admitted += fetched.outcome() == Outcome.ADMITTED ? 1 : 0;
      }
      int found = 0;
      for (int i = 0; i < 200; i++) {
        ByteBuffer content = store.find(Items.key(i));
        if (content != null) {
          assertThat(Items.bytes(content)).isEqualTo(Items.content(i));
          found++;
        }
      }
      assertThat(found).isEqualTo(admitted).isPositive().isLessThan(200);
      assertThat(store.used()).isLessThanOrEqualTo(store.capacity());
    }
  }

  @Test
  void directBuffersKeepItemsToo() throws IOException {
    try (ArenaStore store = ArenaStore.openDirect(130 << 20, logged::add)) {
      byte[] large = new byte[ArenaDescriptor.MAX_ITEM_BYTES];
      for (int i = 0; i < 14; i++) {
        int number = i;
        Fetched fetched =
            store.fetch(
                ItemKey.of("/large", i, 0, ItemKey.WHOLE),
                large.length,
                (target, offset) -> {
                  target[offset] = (byte) number;
                  return true;
                });
        assertThat(fetched.outcome()).isEqualTo(Outcome.ADMITTED);
      }
      for (int i = 0; i < 14; i++) {
        ByteBuffer content = store.find(ItemKey.of("/large", i, 0, ItemKey.WHOLE));
        assertThat(content.get(0)).isEqualTo((byte) i);
        assertThat(content.remaining()).isEqualTo(large.length);
      }
    }
  }

  /** Each large item has its own segment. */
  @Test
  void itemsOfAnySizeAreKeptUpToTheBudget() throws IOException {
    int most = ArenaDescriptor.MAX_ITEM_BYTES;
    try (ArenaStore store = process("64m")) {
      int large = 0;
      for (int i = 0; i < 20; i++) {
        int number = i;
        Loader loader =
            (target, offset) -> {
              target[offset] = (byte) number;
              return true;
            };
        assertThat(store.fetch(Items.key(1000 + i), 9, loader).outcome())
            .isEqualTo(Outcome.ADMITTED);
        large += store.fetch(Items.key(i), most, loader).outcome() == Outcome.ADMITTED ? 1 : 0;
      }
      assertThat(large).isEqualTo(7); // All that fit.
      for (int i = 0; i < 20; i++) {
        assertThat(store.find(Items.key(1000 + i)).get(0)).isEqualTo((byte) i);
        assertThat(store.find(Items.key(i)) != null).isEqualTo(i < large);
      }
      assertThat(store.find(Items.key(6)).get(0)).isEqualTo((byte) 6);
      assertThat(store.used()).isLessThanOrEqualTo(store.capacity());
    }
  }

  @Test
  void onlyOneSegmentFileIsOpen() throws IOException {
    try (ArenaStore store = process("32m")) {
      for (int i = 0; i < 200; i++) {
        store.fetch(Items.key(i), 100_000, (target, offset) -> true);
      }
      assertThat(store.used()).isGreaterThan(9 * PrivateMemory.MIN_SEGMENT);
      try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
        assertThat(open.filter(this::isOurs)).hasSize(1);
      }
    }
  }

  private boolean isOurs(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).startsWith(directory);
    } catch (IOException e) {
      return false; // The descriptor of the listing itself.
    }
  }

  @Test
  void anInterruptedThreadCreatesSegmentsAndStaysInterrupted() throws IOException {
    try (ArenaStore store = process("8m")) {
      Thread.currentThread().interrupt();
      for (int i = 0; i < 6; i++) {
        assertThat(store.fetch(Items.key(i), 1 << 20, (target, offset) -> true).outcome())
            .isEqualTo(Outcome.ADMITTED);
      }
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void directBuffersUseASmallShareOfTheProgramsLimit() throws IOException {
    Path noRoom = Path.of("/proc");
    try (ArenaStore store = ArenaStore.openProcess(noRoom, ByteBudget.parse("100%"), logged::add)) {
      assertThat(store.capacity())
          .isLessThanOrEqualTo(Runtime.getRuntime().maxMemory() / ArenaStore.DIRECT_PART);
      assertThat(logged).anyMatch(line -> line.contains("direct buffers"));
    }
  }

  @Test
  void aPrivateStoreDeletesLeftoversToo() throws IOException {
    Files.write(file("left"), new byte[100]);
    process("8m").close();
    assertThat(file("left")).doesNotExist();
    assertThat(logged).hasSize(1).allMatch(line -> line.contains("left over"));
  }

  @Test
  void aFailedReadLeavesNothingAndCanBeRetried() throws IOException {
    try (ArenaStore store = process("8m")) {
      ItemKey key = Items.key(1);
      assertThatThrownBy(
              () ->
                  store.fetch(
                      key,
                      10,
                      (target, offset) -> {
                        throw new IOException("gone");
                      }))
          .hasMessage("gone");
      assertThat(store.fetch(key, 10, (target, offset) -> false).outcome())
          .isEqualTo(Outcome.CHANGED);
      assertThat(store.find(key)).isNull();
      assertThat(store.fetch(key, Items.length(1), Items.loader(1)).outcome())
          .isEqualTo(Outcome.ADMITTED);
    }
  }

  @Test
  void concurrentMissesReadOnce() throws Exception {
    int threads = 8;
    int items = 200;
    AtomicIntegerArray reads = new AtomicIntegerArray(items);
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try (ArenaStore store = process("32m")) {
      CountDownLatch start = new CountDownLatch(threads);
      List<Future<?>> done = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        done.add(
            pool.submit(
                () -> {
                  start.countDown();
                  start.await();
                  for (int i = 0; i < items; i++) {
                    int number = i;
                    Fetched fetched =
                        store.fetch(
                            Items.key(i),
                            Items.length(i),
                            (target, offset) -> {
                              reads.incrementAndGet(number);
                              return Items.loader(number).load(target, offset);
                            });
                    assertThat(Items.bytes(fetched.content())).isEqualTo(Items.content(i));
                  }
                  return null;
                }));
      }
      for (Future<?> one : done) {
        one.get();
      }
      for (int i = 0; i < items; i++) {
        assertThat(reads.get(i)).as("reads of item %d", i).isEqualTo(1);
      }
      assertThat(store.items()).isEqualTo(items);
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void randomThreadsAcrossGrowingTablesNeverSeeForeignBytes() throws Exception {
    int threads = 4;
    int items = 20_000;
    AtomicIntegerArray reads = new AtomicIntegerArray(items);
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try (ArenaStore store = process("16m")) {
      List<Future<?>> done = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        SplittableRandom random = new SplittableRandom(t);
        done.add(
            pool.submit(
                () -> {
                  for (int i = 0; i < 2 * items; i++) {
                    int number = random.nextInt(items);
                    Fetched fetched =
                        store.fetch(
                            small(number),
                            8,
                            (target, offset) -> {
                              reads.incrementAndGet(number);
                              ByteBuffer.wrap(target).putLong(offset, number);
                              return true;
                            });
                    assertThat(fetched.content().getLong(0)).isEqualTo(number);
                  }
                  return null;
                }));
      }
      for (Future<?> one : done) {
        one.get();
      }
      int read = 0;
      for (int i = 0; i < items; i++) {
        assertThat(reads.get(i)).as("reads of item %d", i).isLessThanOrEqualTo(1);
        read += reads.get(i);
      }
      assertThat(store.items()).isEqualTo(read);
    } finally {
      pool.shutdownNow();
    }
  }

  private static ItemKey small(long number) {
    return ItemKey.of("/small/" + number, 8, 0, ItemKey.WHOLE);
  }

  @Test
  @Tag("slow")
  void aMillionItemsCostAtMost64BytesOverheadEach() throws IOException {
    int items = 1_000_000;
    try (ArenaStore store = process("128m")) {
      long worst = 0;
      for (int i = 0; i < items; i++) {
        int number = i;
        int length = 9;
        Fetched fetched =
            store.fetch(
                small(i),
                length,
                (target, offset) -> {
                  ByteBuffer.wrap(target).putLong(offset, number);
                  return true;
                });
        assertThat(fetched.outcome() == Outcome.ADMITTED).isTrue();
        long count = i + 1L;
        if (count > 50_000) {
          worst = Math.max(worst, (store.used() - length * count) / count);
        }
      }
      System.out.printf(
          "1M items: %.1f B of overhead each at the end, at most %d B on the way%n",
          (store.used() - 9.0 * items) / items, worst + 1);
      assertThat(worst + 1).isLessThanOrEqualTo(64);
      for (int i = 0; i < items; i++) {
        assertThat(store.find(small(i)).getLong(0) == i).isTrue();
      }
    }
  }

  @Test
  void aDamagedItemIsNeverServedButReadAgain() throws IOException {
    try (ArenaStore store = host("damage")) {
      ItemKey key = Items.key(3);
      store.fetch(key, Items.length(3), Items.loader(3));
      store.forgetChecks();
      store.memory.write(store.used() - 40, new byte[] {1, 2, 3, 4, 5}, 0, 5);
      assertThat(store.find(key)).isNull();
      assertThat(store.corrupt.sum()).isEqualTo(1);
      Fetched again = store.fetch(key, Items.length(3), Items.loader(3));
      assertThat(again.outcome()).isEqualTo(Outcome.ADMITTED);
      assertThat(Items.bytes(again.content())).isEqualTo(Items.content(3));
    }
  }

  @Test
  void theGroupFileIsPrivateAndDeletedByItsLastUser() throws IOException {
    Path path = file("a group/of mine");
    assertThat(path.getFileName().toString()).doesNotContain(" ").endsWith(".arena");
    try (ArenaStore store = host("a group/of mine")) {
      assertThat(store.shared.path()).isEqualTo(path);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
          .isEqualTo("rw-------");
      assertThat(store.jobs()).isEqualTo(1);
    }
    assertThat(path).doesNotExist();
  }

  @Test
  void aSecondOpenInTheSameJvmIsRefused() throws IOException {
    try (ArenaStore store = host("twice")) {
      assertThatThrownBy(() -> host("twice")).hasMessageContaining("already open in this JVM");
      assertThat(store.jobs()).isEqualTo(1);
    }
  }

  @Test
  void nothingIsAdmittedWhileMemoryIsShort() throws IOException {
    AtomicBoolean scarce = new AtomicBoolean();
    try (ArenaStore store = process("8m")) {
      store.fetch(Items.key(1), Items.length(1), Items.loader(1));
      scarce.set(true);
      store.measureBy(before -> scarce.get());
      assertThat(store.fetch(Items.key(2), Items.length(2), Items.loader(2)).outcome())
          .isEqualTo(Outcome.FULL);
      assertThat(store.find(Items.key(1))).isNotNull();
      assertThat(store.isFull(Items.length(2))).as("full for good").isFalse();
      scarce.set(false);
      while (!store.hasRoom(Items.length(2))) {
        Thread.onSpinWait(); // Memory is checked once a second.
      }
      assertThat(store.fetch(Items.key(2), Items.length(2), Items.loader(2)).outcome())
          .isEqualTo(Outcome.ADMITTED);
    }
  }

  @Test
  void aSmallStoreChecksMemoryOftenWhileItFills() throws IOException {
    AtomicInteger checks = new AtomicInteger();
    try (ArenaStore store = process("8m")) {
      store.measureBy(
          before -> {
            checks.incrementAndGet();
            return false;
          });
      for (int i = 0;
          store.fetch(Items.key(i), Items.length(i), Items.loader(i)).outcome() == Outcome.ADMITTED;
          i++) {}
      assertThat(checks.get()).isGreaterThan(25);
    }
  }

  @Test
  void theReasonAdmissionStopsIsLoggedOnce() throws IOException {
    for (boolean full : new boolean[] {false, true}) {
      logged.clear();
      try (ArenaStore store = process("8m")) {
        if (full) {
          store.memory.set(ArenaDescriptor.REFUSING, 1);
        } else {
          store.measureBy(before -> true);
        }
        for (int i = 0; i < 3; i++) {
          store.fetch(Items.key(i), Items.length(i), Items.loader(i));
        }
        assertThat(store.isFull(1)).isEqualTo(full);
        assertThat(logged).hasSize(1);
        assertThat(logged.get(0))
            .startsWith(full ? "There is no memory left" : "The machine is short of memory")
            .endsWith(full ? "is admitted." : "is admitted until memory is free again.");
      }
    }
  }

  @Test
  void viewsOutliveTheStore() throws IOException {
    ArenaStore store = host("outlive");
    ByteBuffer view = store.fetch(Items.key(1), Items.length(1), Items.loader(1)).content();
    store.close();
    assertThat(Items.bytes(view)).isEqualTo(Items.content(1));
    assertThat(store.fetch(Items.key(1), Items.length(1), Items.loader(1)).outcome())
        .isEqualTo(Outcome.FULL);
  }

  @Test
  void leftoverFilesAreDeletedAndLoggedButNewOnesStay() throws IOException {
    Files.write(file("left"), new byte[100], java.nio.file.StandardOpenOption.CREATE_NEW);
    Files.createFile(file("other"));
    Files.setLastModifiedTime(file("other"), FileTime.from(Instant.now().minusSeconds(60)));
    Files.createFile(file("being made"));
    host("mine").close();
    assertThat(file("left")).doesNotExist();
    assertThat(file("other")).doesNotExist();
    assertThat(file("being made")).exists();
    assertThat(logged).anyMatch(line -> line.contains("left over"));
  }

  @Test
  @Tag("slow")
  void aStoreBeingCreatedIsNotDeletedByAnotherJob() throws Exception {
    Queue<String> deleted = new ConcurrentLinkedQueue<>();
    AtomicBoolean created = new AtomicBoolean();
    long user = Machine.user();
    Thread other =
        new Thread(
            () -> {
              while (!created.get()) {
                SharedFile.sweep(directory, user, ArenaContents.HERE, deleted::add);
              }
            });
    other.start();
    try {
      for (int i = 0; i < 500; i++) {
        ArenaStore.openProcess(directory, ByteBudget.parse("64m"), deleted::add).close();
      }
    } finally {
      created.set(true);
      other.join();
    }
    assertThat(deleted).isEmpty();
  }

  @Test
  void unusableFilesAreReplacedWhenUnused() throws IOException {
    long user = Machine.user();
    Path path = file("stale");
    for (String defect : List.of("truncated", "not a store", "layout version", "mode", "user")) {
      SharedFile<ArenaMemory> created =
          new SharedFile.Opening<>(path, user, ArenaContents.HERE, () -> 8 << 20, logged::add)
              .within(SharedFile.PATIENCE);
      Path copy = Files.copy(path, directory.resolve("copy"));
      created.close();
      Files.move(copy, path);
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
      try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
        switch (defect) {
          case "truncated" -> file.setLength(100_000);
          case "not a store" -> poke(file, Header.MAGIC);
          case "layout version" -> poke(file, Header.VERSION);
          case "user" -> poke(file, Header.UID);
          default ->
              Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw-rw-"));
        }
      }
      logged.clear();
      SharedFile<ArenaMemory> replaced =
          new SharedFile.Opening<>(path, user, ArenaContents.HERE, () -> 8 << 20, logged::add)
              .within(SharedFile.PATIENCE);
      assertThat(logged).as(defect).hasSize(1).allMatch(w -> w.contains(defect));
      assertThat(replaced.memory().capacity()).isEqualTo(8 << 20);
      replaced.close();
      assertThat(path).doesNotExist();
    }
  }

  private static void poke(RandomAccessFile file, long at) throws IOException {
    file.seek(at);
    file.writeLong(0x5555_5555_5555_5555L);
  }

  @Test
  void anothersFileIsLeftAlone() throws IOException {
    Path path = file("foreign");
    Files.createFile(path);
    assertThatThrownBy(
            () ->
                new SharedFile.Opening<>(
                        path, Machine.user() + 1, ArenaContents.HERE, () -> 8 << 20, logged::add)
                    .within(SharedFile.PATIENCE))
        .hasMessageContaining("belongs to user");
    assertThat(path).exists();
    Path link = Files.createSymbolicLink(file("link"), path);
    assertThatThrownBy(
            () ->
                new SharedFile.Opening<>(
                        link, Machine.user(), ArenaContents.HERE, () -> 8 << 20, logged::add)
                    .within(SharedFile.PATIENCE))
        .hasMessageContaining("not a regular file");
  }

  @Test
  @Tag("slow")
  void aFullSharedMemoryStopsAdmissionAndHarmsNobody() throws Exception {
    Path mount = Files.createDirectory(directory.resolve("tmpfs"));
    int mounted =
        new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=4m", "none", mount.toString())
            .redirectErrorStream(true)
            .start()
            .waitFor();
    if (mounted != 0) {
      System.out.println("skipped: no right to mount a small tmpfs");
    }
    Assumptions.assumeTrue(mounted == 0, "no right to mount a small tmpfs");
    try {
      try (ArenaStore store = Items.openHost(mount, "full", () -> 64 << 20, logged::add)) {
        int admitted = 0;
        for (int i = 0; i < 400; i++) {
          Fetched fetched = store.fetch(Items.key(i), Items.length(i), Items.loader(i));
          admitted += fetched.outcome() == Outcome.ADMITTED ? 1 : 0;
        }
        assertThat(admitted).isBetween(50, 300);
        for (int i = 0; i < 400; i++) {
          ByteBuffer content = store.find(Items.key(i));
          admitted -= content == null ? 0 : 1;
          if (content != null) {
            assertThat(Items.bytes(content)).isEqualTo(Items.content(i));
          }
        }
        assertThat(admitted).isZero();
      }
      logged.clear();
      try (ArenaStore store = ArenaStore.openProcess(mount, ByteBudget.parse("64m"), logged::add)) {
        assertThat(logged).anyMatch(line -> line.contains("direct buffers"));
        assertThat(store.fetch(Items.key(1), Items.length(1), Items.loader(1)).outcome())
            .isEqualTo(Outcome.ADMITTED);
      }
    } finally {
      new ProcessBuilder("umount", "-l", mount.toString()).start().waitFor();
    }
  }

  @Test
  void anInterruptedThreadDoesNotWaitForAnothersRead() throws Exception {
    ExecutorService reader = Executors.newSingleThreadExecutor();
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch finish = new CountDownLatch(1);
    try (ArenaStore store = process("8m")) {
      Future<Fetched> first =
          reader.submit(
              () ->
                  store.fetch(
                      Items.key(1),
                      Items.length(1),
                      (target, offset) -> {
                        reading.countDown();
                        awaitQuietly(finish);
                        return Items.loader(1).load(target, offset);
                      }));
      reading.await();
      Thread.currentThread().interrupt();
      Fetched second = store.fetch(Items.key(1), Items.length(1), Items.loader(1));
      assertThat(Thread.interrupted()).isTrue();
      assertThat(second.outcome()).isEqualTo(Outcome.BUSY);
      assertThat(store.find(Items.key(1))).isNull();
      finish.countDown();
      assertThat(first.get().outcome()).isEqualTo(Outcome.ADMITTED);
      assertThat(store.find(Items.key(1))).isNotNull();
    } finally {
      reader.shutdownNow();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void evenAnInterruptedThreadTakesOverADeadJobsTableLock() throws IOException {
    try (ArenaStore store = host("grower")) {
      Thread.currentThread().interrupt();
      store.memory.set(ArenaDescriptor.GROWER, 12_345);
      for (int i = 0; i < 5000; i++) {
        Fetched fetched = store.fetch(small(i), 8, (target, offset) -> true);
        assertThat(fetched.outcome()).isEqualTo(Outcome.ADMITTED);
      }
      assertThat(Thread.interrupted()).isTrue();
      assertThat(store.jobs()).isEqualTo(1);
      assertThat(store.memory.get(ArenaDescriptor.TABLES)).isEqualTo(2);
      assertThat(store.memory.get(ArenaDescriptor.GROWER)).isZero();
    }
  }

  @Test
  void aTruncatedStoreKeepsNothingMoreAndLogsThatOnce() throws IOException {
    try (ArenaStore store = host("shorter")) {
      store.fetch(Items.key(1), Items.length(1), Items.loader(1));
      long used = store.used();
      try (RandomAccessFile file = new RandomAccessFile(store.shared.path().toFile(), "rw")) {
        file.setLength(used); // All items are still in the file.
      }
      for (int i = 0; i < 2; i++) {
        Fetched fetched = store.fetch(Items.key(2), Items.length(2), Items.loader(2));
        assertThat(fetched.outcome()).isEqualTo(Outcome.FULL);
        assertThat(fetched.content()).isNull();
      }
      assertThat(logged)
          .containsExactly(
              "The memory of the cache was damaged by another program (its file has "
                  + used
                  + " bytes, not 8388608): nothing is cached any more, and storage is read.");
      assertThat(store.find(Items.key(1))).isNull();
      assertThat(store.hasRoom(1)).isFalse();
      assertThat(store.isAwaited(Items.key(1))).isFalse();
      assertThat(store.items()).as("unknown for damaged memory").isZero();
      store.choose(new Rates(1, 2, 3, 4));
      store.count(ArenaDescriptor.DECODED_ITEMS, 8);
    }
    assertThat(logged).hasSize(1);
  }

  @Test
  void theFirstChoiceStaysAndDecodedItemsAreCounted() throws IOException {
    try (ArenaStore store = host("rates")) {
      assertThat(store.rates()).isNull();
      store.choose(new Rates(1, 2, 3, 4));
      store.choose(new Rates(5, 6, 7, 8));
      assertThat(store.rates()).isEqualTo(new Rates(1, 2, 3, 4));
      store.count(ArenaDescriptor.DECODED_ITEMS, 1);
      store.count(ArenaDescriptor.DECODED_ITEMS, 8);
      assertThat(store.word(ArenaDescriptor.DECODED_ITEMS)).isEqualTo(2);
      assertThat(store.word(ArenaDescriptor.DECODED_ITEMS + ArenaDescriptor.BYTES))
          .isEqualTo(32 + 32);
    }
  }

  @Test
  void aBudgetWithoutMemoryIsRefusedInOneSentence() {
    assertThatThrownBy(() -> Items.openHost(directory, "none", () -> 100, logged::add))
        .hasMessageContaining("nothing is cached");
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aBudgetOfZeroOpensNoStore() throws IOException {
    assertThat(process("0")).isNull();
    assertThat(ArenaStore.openHost(directory, "g", ByteBudget.parse("0"), logged::add)).isNull();
    assertThat(logged).hasSize(2).allMatch(line -> line.contains("nothing is cached"));
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void theMinimumBudgetOpensAStoreAndOneByteLessDoesNot() throws IOException {
    String least = Long.toString(ArenaStore.MIN_CAPACITY);
    process(least).close();
    ArenaStore.openHost(directory, "g", ByteBudget.parse(least), logged::add).close();
    assertThat(logged).isEmpty();
    String less = Long.toString(ArenaStore.MIN_CAPACITY - 1);
    assertThat(process(less)).isNull();
    assertThat(ArenaStore.openHost(directory, "g", ByteBudget.parse(less), logged::add)).isNull();
    assertThat(logged).hasSize(2).allMatch(line -> line.contains(less + " bytes"));
  }

  @Test
  void aMissingDirectoryIsLoggedAndDirectBuffersReplaceIt() throws IOException {
    Path missing = directory.resolve("missing");
    try (ArenaStore store = ArenaStore.openProcess(missing, ByteBudget.parse("2m"), logged::add)) {
      assertThat(logged).last().asString().contains("the cache uses direct buffers");
      store.fetch(Items.key(1), Items.length(1), Items.loader(1));
      assertThat(Items.bytes(store.find(Items.key(1)))).isEqualTo(Items.content(1));
    }
    assertThat(missing).doesNotExist();
  }

  @Test
  void aFileInsteadOfADirectoryIsLoggedAndDirectBuffersReplaceIt() throws IOException {
    Path plain = Files.createFile(directory.resolve("plain"));
    try (ArenaStore store = ArenaStore.openProcess(plain, ByteBudget.parse("2m"), logged::add)) {
      assertThat(logged)
          .last()
          .asString()
          .startsWith(plain + " cannot be used (")
          .endsWith("): the cache uses direct buffers.");
      assertThat(store.capacity()).isEqualTo(2 << 20);
    }
    assertThat(plain).isEmptyFile();
  }
}
