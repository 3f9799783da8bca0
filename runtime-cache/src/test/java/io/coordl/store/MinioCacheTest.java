package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.FileReads;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.SpanSink;
import io.coordl.items.EarlyMaps;
import io.coordl.items.FileState;
import io.coordl.items.ItemFile;
import io.coordl.items.ItemFilter;
import io.coordl.items.ItemKey;
import io.coordl.items.ItemNames;
import io.coordl.items.Mounts;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program reads the same bytes as without the cache; storage is read once per cached item. */
class MinioCacheTest {
  @TempDir Path directory;
  @TempDir Path arena;
  private final AtomicBoolean loadingSample = new AtomicBoolean(true);
  private ArenaStore store;

  private MinioCache cache(String budget) {
    store = ArenaStore.openProcess(arena, ByteBudget.parse(budget), line -> {});
    return new MinioCache(
        store, ItemFilter.inferred(loadingSample::get, ItemNames.here(sentence -> {})));
  }

  @AfterEach
  void close() {
    if (store != null) {
      store.close();
    }
  }

  private static byte[] all(OpenItem item) throws IOException {
    byte[] bytes = new byte[(int) item.size()];
    int done = 0;
    while (done < bytes.length) {
      int count = item.read(done, bytes, done, bytes.length - done);
      if (count < 0) {
        return Arrays.copyOf(bytes, done);
      }
      done += count;
    }
    assertThat(item.read(done, new byte[1], 0, 1)).isEqualTo(-1);
    item.close();
    return bytes;
  }

  @Test
  void anItemPrefetchedFromAnotherHostIsServedOnce() throws IOException {
    Path file = Items.file(directory, "a", 5000);
    byte[] bytes = Files.readAllBytes(file);
    store = ArenaStore.openProcess(arena, ByteBudget.parse("8m"), line -> {});
    AtomicInteger fetches = new AtomicInteger();
    ItemStore others =
        new ItemStore() {
          @Override
          public ByteBuffer find(ItemKey key) {
            return store.find(key);
          }

          @Override
          public Fetched fetch(ItemKey key, int length, Loader loader) {
            fetches.incrementAndGet();
            byte[] stamped = Arrays.copyOf(bytes, length);
            return new Fetched(Outcome.PEER, ByteBuffer.wrap(stamped).asReadOnlyBuffer());
          }
        };
    ItemFilter copies = ItemFilter.inferred(loadingSample::get, ItemNames.HERE.copies());
    MinioCache cache = new MinioCache(others, store, copies);

    assertThat(cache.isKept(file.toString())).isFalse();
    assertThat(cache.prefetch(file.toString())).isTrue();
    assertThat(cache.isKept(file.toString())).isTrue();
    assertThat(all(cache.open(file.toString()))).isEqualTo(bytes);
    assertThat(fetches).hasValue(1);

    assertThat(cache.isKept(file.toString())).isFalse();
    assertThat(all(cache.open(file.toString()))).isEqualTo(bytes);
    assertThat(fetches).hasValue(2);
  }

  @Test
  void theFirstOpeningCountsAsStorageAndTheNextAsMemory() throws IOException {
    Path file = Items.file(directory, "a", 5000);
    MinioCache cache = cache("8m");
    OpenItem first = cache.open(file.toString());
    OpenItem second = cache.open(file.toString());
    assertThat(first.origin()).isEqualTo(Origin.STORAGE);
    assertThat(second.origin()).isEqualTo(Origin.MEMORY);
    assertThat(Items.bytes(second.content())).isEqualTo(Files.readAllBytes(file));
    assertThat(all(second)).isEqualTo(Files.readAllBytes(file));
    StoreStatistics statistics = cache.statistics();
    assertThat(statistics.of(Outcome.HIT)).isEqualTo(1);
    assertThat(statistics.misses()).isEqualTo(1);
    assertThat(statistics.of(Outcome.ADMITTED)).isEqualTo(1);
    assertThat(statistics.of(Origin.MEMORY)).isEqualTo(5000);
    assertThat(statistics.of(Origin.STORAGE)).isEqualTo(5000);
  }

  @Test
  void contentIsAFreshViewEachTime() throws IOException {
    OpenItem item = cache("8m").open(Items.file(directory, "a", 100).toString());
    item.content().get(new byte[60]);
    assertThat(item.content().remaining()).isEqualTo(100);
    assertThat(item.content().isReadOnly()).isTrue();
  }

  @Test
  void relativeAndAbsolutePathsAreTheSameItem() throws IOException {
    Path file = Items.file(directory, "a", 100);
    MinioCache cache = cache("8m");
    cache.open(file.toString());
    Path relative = Path.of("").toAbsolutePath().relativize(directory.toRealPath());
    OpenItem dotted = cache.open(directory + "/./a");
    assertThat(dotted.origin()).isEqualTo(Origin.MEMORY);
    assertThat(dotted.path()).isEqualTo(directory + "/./a");
    assertThat(cache.open(relative + "/a").served()).isTrue();
  }

  @Test
  void aChangedFileIsANewItem() throws IOException {
    Path file = Items.file(directory, "a", 100);
    MinioCache cache = cache("8m");
    all(cache.open(file.toString()));
    Files.write(file, new byte[100]);
    Files.setLastModifiedTime(file, FileTime.fromMillis(12_345));
    OpenItem changed = cache.open(file.toString());
    assertThat(changed.origin()).isEqualTo(Origin.STORAGE);
    assertThat(all(changed)).isEqualTo(new byte[100]);
  }

  @Test
  void onlyReadableRegularFilesAreCached() throws IOException {
    MinioCache cache = cache("8m");
    for (String path :
        List.of(
            directory + "/missing",
            directory.toString(),
            "/dev/null",
            "/dev/zero",
            "/proc/self/status",
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "",
            "nul\0byte")) {
      assertThat(cache.open(path)).as(path).isNull();
      assertThat(cache.openRandomAccess(path)).as(path).isNull();
    }
    assertThat(cache.statistics().items()).isZero();
  }

  @Test
  void anUnreadableFileIsLeftToTheProgram() throws IOException {
    Path file = Items.file(directory, "a", 100);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("---------"));
    if (Files.isReadable(file)) {
      System.out.println("skipped: this user may read a file with mode 000");
    }
    Assumptions.assumeFalse(Files.isReadable(file), "this user may read a file with mode 000");
    assertThat(cache("8m").open(file.toString())).isNull();
  }

  @Test
  void filesOnExcludedFileSystemTypesAreNotKept() throws IOException {
    String file = Items.file(directory, "a", 100).toString();
    String type = Files.getFileStore(directory).type();
    Mounts mounts = Mounts.HERE;
    boolean isKnown = mounts.typeOf(FileState.of(file).device()).equals(type);
    if (!isKnown) {
      System.out.println("skipped: the type of " + directory + " (" + type + ") is not known");
    }
    Assumptions.assumeTrue(isKnown);
    store = ArenaStore.openProcess(arena, ByteBudget.parse("8m"), line -> {});
    ItemNames names = ItemNames.HERE.without(Set.of(type));
    ItemFilter filter = ItemFilter.inferred(() -> true, names);
    MinioCache cache = new MinioCache(store, filter);
    assertThat(cache.open(file).served()).isFalse();
    assertThat(cache.openRandomAccess(file).served()).isFalse();
    assertThat(cache.prefetch(file)).isFalse();
    assertThat(new DecodedStore(store, filter).item(file)).isNull();
    assertThat(new PreparedStore(store, new KeptForms(), names).skips(FileState.of(file))).isTrue();
    assertThat(store.items()).isZero();
  }

  @Test
  void anEmptyFileIsAnItemToo() throws IOException {
    Path file = Items.file(directory, "empty", 0);
    MinioCache cache = cache("8m");
    assertThat(all(cache.open(file.toString()))).isEmpty();
    OpenItem second = cache.open(file.toString());
    assertThat(second.origin()).isEqualTo(Origin.MEMORY);
    assertThat(second.content().remaining()).isZero();
    assertThat(cache.openRandomAccess(file.toString()).served()).isFalse();
  }

  @Test
  void aFileWithContentButSizeZeroIsLeftToTheProgram() throws IOException {
    Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("/proc/cpuinfo"));
    Bridge.install(SpanSink.NONE, cache("8m"), FaultListener.NONE);
    try (FileChannel channel = FileReads.open(link);
        RandomAccessFile file = FileReads.newRandomAccessFile(link.toString(), "r");
        InputStream stream = FileReads.newInputStream(link);
        FileInputStream fileStream = FileReads.newFileInputStream(link.toString())) {
      assertThat(channel.read(ByteBuffer.allocate(10))).isEqualTo(10);
      assertThat(file.read(new byte[10])).isEqualTo(10);
      assertThat(stream.readNBytes(10)).hasSize(10);
      assertThat(fileStream.readNBytes(10)).hasSize(10);
      assertThat(FileReads.readAllBytes(link)).hasSizeGreaterThan(10);
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
  }

  @Test
  void aFileThatChangesWhileItIsReadIsNotKept() throws IOException {
    Path file = Items.file(directory, "a", 5000);
    ItemFile before = ItemFile.of(file.toString(), ItemNames.HERE);
    try (RandomAccessFile writer = new RandomAccessFile(file.toFile(), "rw")) {
      writer.setLength(4000);
    }
    assertThat(before.readWhole(new byte[5000], 0)).isFalse();
    Items.file(directory, "a", 6000);
    assertThat(before.readWhole(new byte[5000], 0)).isFalse();
    Path other = Items.file(directory, "b", 5000);
    Files.setLastModifiedTime(other, FileTime.fromMillis(99));
    Files.move(other, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    assertThat(before.readWhole(new byte[5000], 0)).isFalse();
  }

  @Test
  void aSymbolicLinkIsReadThrough() throws IOException {
    Path file = Items.file(directory, "a", 5000);
    Path link = Files.createSymbolicLink(directory.resolve("link"), file);
    MinioCache cache = cache("8m");
    all(cache.open(link.toString()));
    assertThat(cache.open(link.toString()).origin()).isEqualTo(Origin.MEMORY);
    Files.delete(link);
    Files.createSymbolicLink(link, Items.file(directory, "b", 4000));
    assertThat(all(cache.open(link.toString()))).isEqualTo(Files.readAllBytes(link));
    Files.delete(link);
    Files.createSymbolicLink(link, directory.resolve("nowhere"));
    assertThat(cache.open(link.toString())).isNull();
  }

  @Test
  void aFullStoreLeavesTheReadToTheProgram() throws IOException {
    MinioCache cache = cache("1m");
    Path large = Items.file(directory, "large", 2 << 20);
    OpenItem item = cache.open(large.toString());
    assertThat(item.served()).isFalse();
    assertThat(item.content()).isNull();
    assertThat(item.origin()).isEqualTo(Origin.STORAGE);
    assertThat(cache.statistics().of(Outcome.FULL)).isEqualTo(1);
  }

  @Test
  void withoutAStoreItemsAreOnlyObserved() throws IOException {
    MinioCache cache =
        new MinioCache(null, ItemFilter.inferred(loadingSample::get, ItemNames.HERE));
    String path = Items.file(directory, "a", 100).toString();
    OpenItem item = cache.open(path);
    assertThat(item.served()).isFalse();
    item.fetched(1, 2, 100);
    item.close();
    assertThat(cache.openRandomAccess(path).served()).isFalse();
    assertThat(cache.open("/dev/zero")).isNull();
    assertThat(cache.open("/proc/self/stat")).isNull();
    assertThat(cache.open("/dev/shm/data")).isNotNull();
    loadingSample.set(false);
    assertThat(cache.open(path)).isNull();
    assertThat(cache.statistics().capacity()).isZero();
    assertThat(cache.statistics().misses()).isEqualTo(2);
    assertThat(cache.statistics().of(Origin.STORAGE)).isEqualTo(100);
  }

  @Test
  void filesUpToTheLimitAreWholeItemsAndLargerOnesAreNot() throws IOException {
    String largest = Items.file(directory, "largest", MinioCache.WHOLE_LIMIT).toString();
    String larger = Items.file(directory, "larger", MinioCache.WHOLE_LIMIT + 1).toString();
    MinioCache cache = cache("32m");
    assertThat(cache.prefetch(largest)).isTrue();
    assertThat(cache.isKept(largest)).isTrue();
    assertThat(cache.open(largest).content()).isNotNull();
    assertThat(cache.openRandomAccess(largest).fetchContent()).isNotNull();
    assertThat(cache.prefetch(larger)).isFalse();
    assertThat(cache.isKept(larger)).isFalse();
    assertThat(cache.open(larger).content()).isNull();
    assertThat(cache.openRandomAccess(larger).fetchContent()).isNull();
  }

  @Test
  void prefetchReturnsFalseIfAnItemCannotBeReadOrKept() throws IOException {
    String empty = Items.file(directory, "empty", 0).toString();
    String small = Items.file(directory, "small", 1000).toString();
    MinioCache cache = cache("8m");
    assertThat(cache.prefetch(empty)).as("the program reads it itself").isFalse();
    assertThat(cache.prefetch(directory + "/missing")).isFalse();
    assertThat(cache.isKept(directory + "/missing")).isFalse();
    assertThat(cache.prefetch(small)).isTrue();
    String full = Items.file(directory, "full", 1000).toString();
    store.measureBy(before -> true);
    assertThat(cache.prefetch(full)).as("no room").isFalse();
    store.close();
    assertThat(cache.isKept(small)).isFalse();
    MinioCache observing = new MinioCache(null, path -> true);
    assertThat(observing.prefetch(small)).isFalse();
    assertThat(observing.isKept(small)).isFalse();
  }

  @Test
  void prefetchingFromOtherHostsPausesWhileManyItemsWait() throws IOException {
    store = ArenaStore.openProcess(arena, ByteBudget.parse("8m"), line -> {});
    ByteBuffer bytes = ByteBuffer.allocate(ItemStore.MAX_ITEM_BYTES).asReadOnlyBuffer();
    ItemStore others =
        new ItemStore() {
          @Override
          public ByteBuffer find(ItemKey key) {
            return null;
          }

          @Override
          public Fetched fetch(ItemKey key, int length, Loader loader) {
            return new Fetched(Outcome.PEER, bytes);
          }
        };
    ItemFilter copies = ItemFilter.inferred(() -> true, ItemNames.HERE.copies());
    MinioCache cache = new MinioCache(others, store, copies);
    long limit = Runtime.getRuntime().maxMemory() / 16 / MinioCache.WHOLE_LIMIT;
    String file = "";
    for (int i = 0; i <= limit; i++) {
      file = directory.resolve("item" + i).toString();
      try (RandomAccessFile writer = new RandomAccessFile(file, "rw")) {
        writer.setLength(MinioCache.WHOLE_LIMIT);
      }
      assertThat(cache.prefetch(file)).isTrue();
      assertThat(cache.isKept(file)).isEqualTo(i < limit);
    }
    cache.open(directory.resolve("item0").toString()).close();
    assertThat(cache.prefetch(file)).isTrue();
    assertThat(cache.isKept(file)).isTrue();
  }

  @Test
  void aFileThatCannotBeReadIsCountedAndLeftToTheProgram() throws IOException {
    String file = Items.file(directory, "a", 5000).toString();
    store = ArenaStore.openProcess(arena, ByteBudget.parse("8m"), line -> {});
    ItemStore broken =
        new ItemStore() {
          @Override
          public ByteBuffer find(ItemKey key) {
            return null;
          }

          @Override
          public Fetched fetch(ItemKey key, int length, Loader loader) throws IOException {
            throw new IOException("Input/output error");
          }
        };
    MinioCache cache = new MinioCache(broken, store, path -> true);
    assertThat(cache.open(file)).isNull();
    assertThat(cache.prefetch(file)).isFalse();
    assertThat(cache.statistics().of(Outcome.UNREADABLE)).isEqualTo(2);
    assertThat(cache.statistics().of(Origin.STORAGE)).isZero();
  }

  @Test
  void anOpeningReportsItsDurationAndEnd() throws IOException {
    AtomicInteger reported = new AtomicInteger();
    List<String> ended = new ArrayList<>();
    SpanSink sink =
        new SpanSink() {
          @Override
          public long enter(SpanKind kind, Object subject) {
            return 0;
          }

          @Override
          public void exit(long token, Object result) {}

          @Override
          public void fetchTime(long startNanos, long endNanos) {
            reported.incrementAndGet();
          }

          @Override
          public boolean loadingSample() {
            return true;
          }

          @Override
          public void itemOpened(String path) {}

          @Override
          public void itemFetched(
              String path, long startNanos, long nanos, long bytes, Origin origin) {
            ended.add(path);
          }
        };
    String file = Items.file(directory, "a", 5000).toString();
    MinioCache cache = cache("8m");
    KeptForms forms = new KeptForms(store);
    MinioCache sharing = new MinioCache(store, path -> true, forms, () -> true);
    Bridge.install(sink, ItemSource.NONE, FaultListener.NONE);
    try {
      cache.prefetch(file);
      assertThat(reported).hasValue(1);
      assertThat(ended).containsExactly(file);
      store.choose(new Rates(1, 2, 1, 1000)); // Decoded items come first.
      new DecodedStore(store, path -> true, forms, () -> true).item(file);
      sharing.open(file);
      assertThat(reported).hasValue(2);
      assertThat(sharing.statistics().of(Outcome.HIT)).isEqualTo(1);
      assertThat(sharing.statistics().of(Origin.MEMORY)).isEqualTo(5000);
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
  }

  @Test
  void aLargeFileCountsBlocksAndEachStorageByteOnce() throws IOException {
    int size = (12 << 20) + 777;
    String path = Items.file(directory, "large", size).toString();
    MinioCache cache = cache("32m");
    assertThat(all(cache.open(path))).hasSize(size);
    StoreStatistics statistics = cache.statistics();
    assertThat(statistics.of(Origin.STORAGE)).isEqualTo(size);
    assertThat(statistics.of(Outcome.HIT)).isZero();
    long before = statistics.of(Origin.MEMORY);
    assertThat(all(cache.open(path))).hasSize(size);
    assertThat(statistics.of(Origin.STORAGE)).isEqualTo(size);
    assertThat(statistics.of(Outcome.HIT)).isEqualTo(statistics.of(Outcome.ADMITTED));
    assertThat(statistics.of(Origin.MEMORY) - before).isEqualTo(size);
  }

  @Test
  void aLargeFileIsKeptInTheBlocksThatFit() throws IOException {
    Path file = Items.file(directory, "large", (12 << 20) + 777);
    MinioCache cache = cache("6m");
    byte[] expected = Files.readAllBytes(file);
    assertThat(all(cache.open(file.toString()))).isEqualTo(expected);
    assertThat(cache.statistics().of(Outcome.ADMITTED)).isEqualTo(6);
    assertThat(cache.statistics().of(Outcome.FULL)).isEqualTo(7);
    OpenItem again = cache.open(file.toString());
    assertThat(again.content()).isNull();
    assertThat(all(again)).isEqualTo(expected);
    assertThat(again.origin()).isEqualTo(Origin.STORAGE);
    assertThat(cache.statistics().of(Outcome.HIT)).isEqualTo(6);
    OpenItem part = cache.open(file.toString());
    assertThat(part.read(1000, new byte[10], 0, 10)).isEqualTo(10);
    assertThat(part.origin()).isEqualTo(Origin.MEMORY);
  }

  @Test
  void aBlockPastTwoGibibytesIsReadAndKept() throws IOException {
    Path file = directory.resolve("sparse");
    long at = (3L << 30) + 12_345;
    try (RandomAccessFile writer = new RandomAccessFile(file.toFile(), "rw")) {
      writer.setLength(5L << 30);
      writer.seek(at);
      writer.writeLong(42);
    }
    MinioCache cache = cache("8m");
    for (boolean memory : new boolean[] {false, true}) {
      OpenItem item = cache.open(file.toString());
      byte[] eight = new byte[8];
      assertThat(item.read(at, eight, 0, 8)).isEqualTo(8);
      assertThat(eight).isEqualTo(new byte[] {0, 0, 0, 0, 0, 0, 0, 42});
      assertThat(item.origin()).isEqualTo(memory ? Origin.MEMORY : Origin.STORAGE);
      assertThat(item.read(5L << 30, eight, 0, 8)).isEqualTo(-1);
      item.close();
    }
  }

  @Test
  void aLargeFileTruncatedDuringReadingEndsAtItsNewEnd() throws IOException {
    Path file = Items.file(directory, "large", 12 << 20);
    OpenItem item = cache("32m").open(file.toString());
    byte[] byteArray = new byte[100];
    assertThat(item.read(0, byteArray, 0, 100)).isEqualTo(100);
    try (RandomAccessFile writer = new RandomAccessFile(file.toFile(), "rw")) {
      writer.setLength(3 << 20);
    }
    assertThat(item.read(10 << 20, byteArray, 0, 100)).isEqualTo(-1);
    assertThat(item.read(2 << 20, byteArray, 0, 100)).isEqualTo(100);
    assertThat(store.items()).isEqualTo(1);
    item.close();
  }

  @Test
  void anOpenFilesBlocksAreKeptOnlyIfReadWhileASampleIsLoaded() throws IOException {
    Path file = Items.file(directory, "records", 9 << 20);
    MinioCache cache = cache("32m");
    loadingSample.set(false);
    OpenItem item = cache.openRandomAccess(file.toString());
    byte[] expected = Files.readAllBytes(file);
    assertThat(all(cache.openRandomAccess(file.toString()))).isEqualTo(expected);
    assertThat(store.items()).isZero();
    loadingSample.set(true);
    assertThat(all(item)).isEqualTo(expected);
    assertThat(store.items()).isEqualTo(9);
    loadingSample.set(false);
    OpenItem later = cache.openRandomAccess(file.toString());
    assertThat(all(later)).isEqualTo(expected);
    assertThat(later.origin()).isEqualTo(Origin.MEMORY);
  }

  @Test
  void aSmallOpenFileSharesItsItemWithStreams() throws IOException {
    Path file = Items.file(directory, "a", 5000);
    MinioCache cache = cache("8m");
    assertThat(all(cache.openRandomAccess(file.toString()))).isEqualTo(Files.readAllBytes(file));
    assertThat(cache.open(file.toString()).origin()).isEqualTo(Origin.MEMORY);
  }

  @Test
  void aMappedSmallFileIsKeptAndMappedFromMemoryWithoutOpeningIt() throws IOException {
    Path file = Items.file(directory, "a", 5000);
    byte[] expected = Files.readAllBytes(file);
    Bridge.install(SpanSink.NONE, cache("8m"), FaultListener.NONE);
    try {
      loadingSample.set(false);
      try (FileChannel channel = FileReads.open(file)) {
        assertThat(Items.bytes(map(channel))).isEqualTo(expected);
      }
      assertThat(store.items()).isZero();
      loadingSample.set(true);
      try (FileChannel channel = FileReads.open(file)) {
        assertThat(Items.bytes(map(channel))).isEqualTo(expected);
      }
      assertThat(store.items()).isEqualTo(1);
      loadingSample.set(false);
      try (FileChannel channel = FileReads.open(file)) {
        Files.delete(file);
        assertThat(Items.bytes(map(channel))).isEqualTo(expected);
        assertThat(channel.map(FileChannel.MapMode.READ_ONLY, 4990, 10).get(9))
            .isEqualTo(expected[4999]);
      }
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
  }

  @Test
  void aLongerReplacementIsNotTakenForAGrownFile() throws IOException {
    Path file = Items.file(directory, "a", 5000);
    Bridge.install(SpanSink.NONE, cache("8m"), FaultListener.NONE);
    try (InputStream stream = FileReads.newInputStream(file);
        FileInputStream fileStream = FileReads.newFileInputStream(file.toString());
        FileChannel channel = FileReads.open(file)) {
      ByteBuffer bytes = ByteBuffer.allocate(6000);
      assertThat(channel.read(bytes)).isEqualTo(5000);
      Path other = Items.file(directory, "b", 6000);
      Files.move(other, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
      assertThat(stream.readAllBytes()).hasSize(5000);
      assertThat(fileStream.readAllBytes()).hasSize(5000);
      assertThat(channel.read(bytes)).isEqualTo(-1);
      Files.write(file, new byte[10], java.nio.file.StandardOpenOption.APPEND);
      assertThat(stream.read()).isEqualTo(-1);
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
  }

  @Test
  void aRandomAccessFileReadsTheFileItOpenedEvenIfReplaced() throws IOException {
    Bridge.install(SpanSink.NONE, cache("32m"), FaultListener.NONE);
    try {
      for (String end : List.of("deleted", "replaced", "replaced unread")) {
        Path file = Items.file(directory, end, 9 << 20);
        byte[] expected = Files.readAllBytes(file);
        try (RandomAccessFile first = FileReads.newRandomAccessFile(file.toFile(), "r")) {
          assertThat(first.read()).isEqualTo(expected[0] & 0xff); // Its first block is kept.
        }
        try (RandomAccessFile random = FileReads.newRandomAccessFile(file.toFile(), "r")) {
          byte[] bytes = new byte[expected.length];
          if (!end.contains("unread")) {
            random.readFully(bytes, 0, 1000);
          }
          if (end.equals("deleted")) {
            Files.delete(file);
          } else {
            Path other = Items.file(directory, "other", 9 << 20);
            Files.move(other, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
          }
          random.seek(5 << 20);
          assertThat(random.read()).as(end).isEqualTo(expected[5 << 20] & 0xff);
          random.seek(0);
          random.readFully(bytes);
          assertThat(Arrays.equals(bytes, expected)).as(end).isTrue();
        }
      }
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
  }

  /** Opening the file again would fail, because its path no longer exists. */
  @Test
  void aRandomAccessFileIsKeptWithoutOpeningItTwice() throws IOException {
    Bridge.install(SpanSink.NONE, cache("32m"), FaultListener.NONE);
    try {
      for (int size : new int[] {5000, 9 << 20}) {
        Path folder = Files.createDirectory(directory.resolve("of-" + size));
        Path file = Items.file(folder, "item", size);
        byte[] expected = Files.readAllBytes(file);
        byte[] bytes = new byte[size];
        long kept = store.items();
        try (RandomAccessFile random = FileReads.newRandomAccessFile(file.toFile(), "r")) {
          random.seek(1000);
          Files.move(folder, directory.resolve("moved-" + size)); // The file does not change.
          assertThat(random.read()).isEqualTo(expected[1000] & 0xff);
          assertThat(random.getFilePointer()).isEqualTo(1001);
          assertThat(store.items()).isEqualTo(kept + 1);
          random.seek(0);
          random.readFully(bytes);
          assertThat(Arrays.equals(bytes, expected)).isTrue();
          assertThat(random.getFilePointer()).isEqualTo(size);
          assertThat(random.read()).isEqualTo(-1);
          loadingSample.set(false);
          random.seek(size - 1);
          assertThat(random.read()).isEqualTo(expected[size - 1] & 0xff);
          assertThat(random.getFilePointer()).isEqualTo(size);
        } finally {
          loadingSample.set(true);
        }
      }
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
  }

  /**
   * The kernel need not record each write to a mapped page, so a later write could go unnoticed.
   */
  @Test
  void aFileMappedForWritingIsNotCached() throws IOException {
    Bridge.install(SpanSink.NONE, cache("32m"), FaultListener.NONE);
    try {
      Path file = Items.file(directory, "written", 5000);
      Path other = Items.file(directory, "other", 5000);
      FileReads.readAllBytes(file);
      FileReads.readAllBytes(other);
      assertThat(store.items()).isEqualTo(2);
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        MappedByteBuffer memory =
            FileReads.map(channel, FileChannel.MapMode.READ_WRITE, 0, channel.size());
        for (byte value = 0; value < 5; value++) {
          memory.put(7, value);
          assertThat(FileReads.readAllBytes(file)[7]).isEqualTo(value);
          try (RandomAccessFile random = FileReads.newRandomAccessFile(file.toFile(), "r")) {
            random.seek(7);
            assertThat(random.read()).isEqualTo(value);
          }
        }
      }
      assertThat(store.items()).as("no further item is kept").isEqualTo(2);
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
  }

  @Test
  void aFileMappedForWritingBeforeTheCacheOpenedIsNotCached() throws IOException {
    try {
      Path file = Items.file(directory, "early", 5000);
      EarlyMaps early = new EarlyMaps();
      Bridge.install(SpanSink.NONE, early, FaultListener.NONE);
      MappedByteBuffer memory;
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        memory = FileReads.map(channel, FileChannel.MapMode.READ_WRITE, 0, channel.size());
      }
      store = ArenaStore.openProcess(arena, ByteBudget.parse("32m"), line -> {});
      ItemNames names = ItemNames.here(sentence -> {}).skipping(early);
      ItemFilter filter = ItemFilter.inferred(loadingSample::get, names);
      Bridge.install(SpanSink.NONE, new MinioCache(store, filter), FaultListener.NONE);
      for (byte value = 0; value < 5; value++) {
        memory.put(7, value);
        assertThat(FileReads.readAllBytes(file)[7]).isEqualTo(value);
      }
      assertThat(store.items()).isZero();
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
  }

  private static ByteBuffer map(FileChannel channel) throws IOException {
    return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
  }

  @Test
  void anInterruptedThreadIsServedAndStaysInterrupted() throws IOException {
    Path file = Items.file(directory, "a", 5000);
    Path large = Items.file(directory, "large", 9 << 20);
    MinioCache cache = cache("32m");
    Thread.currentThread().interrupt();
    byte[] small = all(cache.open(file.toString()));
    byte[] blocks = all(cache.open(large.toString()));
    assertThat(Thread.interrupted()).isTrue();
    assertThat(small).isEqualTo(Files.readAllBytes(file));
    assertThat(blocks).isEqualTo(Files.readAllBytes(large));
    assertThat(cache.open(file.toString()).origin()).isEqualTo(Origin.MEMORY);
  }

  @Test
  void declaredItemsAreTheMatchingFiles() {
    ItemFilter filter = ItemFilter.matching(List.of("/data/**.jpg", "/more"), ItemNames.HERE);
    assertThat(filter.isItem("/data/a/b.jpg")).isTrue();
    assertThat(filter.isItem("/data/a/b.txt")).isFalse();
    assertThat(filter.isItem("/more/x")).isTrue();
    assertThat(filter.isItem("/moreover")).isFalse();
    assertThat(filter.mayBeItem("/moreover")).isFalse();
  }

  @Test
  void anInvalidPathIsNotAnItem() {
    ItemFilter filter = ItemFilter.matching(List.of("/data/**.jpg", "/more"), ItemNames.HERE);
    assertThat(filter.isItem("/more/nul\0byte")).isFalse();
    assertThat(filter.mayBeItem("/more/nul\0byte")).isFalse();
  }

  @Test
  void keysOfDifferentItemsDiffer() {
    ItemKey key = ItemKey.of("/data/image", 1, 2, ItemKey.WHOLE);
    assertThat(
            List.of(
                ItemKey.of("/data/imagf", 1, 2, ItemKey.WHOLE),
                ItemKey.of("/data/image\0", 1, 2, ItemKey.WHOLE),
                ItemKey.of("/data/image", 2, 2, ItemKey.WHOLE),
                ItemKey.of("/data/image", 1, 3, ItemKey.WHOLE),
                ItemKey.of("/data/image", 1, 2, 0)))
        .doesNotContain(key)
        .doesNotHaveDuplicates();
    assertThat(ItemKey.of("/data/image", 1, 2, ItemKey.WHOLE)).isEqualTo(key);
  }
}
