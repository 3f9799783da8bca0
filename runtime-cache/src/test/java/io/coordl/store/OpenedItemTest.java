package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import io.coordl.bridge.SpanSink;
import io.coordl.items.ItemFile;
import io.coordl.items.ItemKey;
import io.coordl.items.ItemNames;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads, counters and descriptors of an opened item. */
class OpenedItemTest {
  private static final int SIZE = 350;
  private static final int PIECE = 100;

  @TempDir Path directory;
  private final Store store = new Store();
  private final StoreStatistics counted = new StoreStatistics(null);
  private boolean admitting;
  private Path file;
  private byte[] expected;

  @BeforeEach
  void write() throws IOException {
    file = Items.file(directory, "item", SIZE);
    expected = Files.readAllBytes(file);
  }

  @AfterEach
  void uninstall() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, (where, cause, tripped) -> {});
  }

  /** Caches loaded items and counts requests. */
  private static final class Store implements ItemStore {
    private final Map<ItemKey, ByteBuffer> kept = new HashMap<>();
    private int finds;
    private int fetches;
    private boolean broken;
    private Outcome missed = Outcome.ADMITTED;

    @Override
    public ByteBuffer find(ItemKey key) {
      finds++;
      if (broken) {
        throw new IllegalStateException("broken");
      }
      return kept.get(key);
    }

    @Override
    public Fetched fetch(ItemKey key, int length, Loader loader) throws IOException {
      fetches++;
      ByteBuffer found = kept.get(key);
      if (found != null) {
        return new Fetched(Outcome.HIT, found);
      }
      byte[] bytes = new byte[length];
      if (!loader.load(bytes, 0)) {
        return new Fetched(Outcome.CHANGED, null);
      }
      kept.put(key, ByteBuffer.wrap(bytes).asReadOnlyBuffer());
      return new Fetched(missed, kept.get(key));
    }
  }

  private ItemFile itemFile() {
    return ItemFile.of(file.toString(), ItemNames.HERE);
  }

  private PiecewiseItem blocks() {
    return open(PIECE, false);
  }

  private PiecewiseItem whole() {
    return open(SIZE, true);
  }

  private PiecewiseItem open(int piece, boolean whole) {
    return new PiecewiseItem(
        file.toString(),
        itemFile(),
        piece,
        whole,
        new StampedItems(store, store),
        counted,
        StoreGain.silent(),
        () -> admitting);
  }

  private int read(OpenItem item, int from, int length) throws IOException {
    byte[] bytes = new byte[length];
    int count = item.read(from, bytes, 0, length);
    byte[] there = Arrays.copyOfRange(expected, from, from + count);
    assertThat(Arrays.copyOf(bytes, count)).isEqualTo(there);
    return count;
  }

  private void append() throws IOException {
    Files.write(file, new byte[PIECE], StandardOpenOption.APPEND);
  }

  private void replace(int size) throws IOException {
    Files.move(Items.file(directory, "other", size), file, StandardCopyOption.REPLACE_EXISTING);
  }

  // ---- pieces

  @Test
  void aReadEndsAtItsBlockAndAtTheFilesOriginalEnd() throws IOException {
    for (boolean admit : new boolean[] {false, true}) {
      admitting = admit;
      PiecewiseItem item = blocks();
      assertThat(read(item, 130, SIZE)).isEqualTo(70);
      assertThat(read(item, 340, SIZE)).isEqualTo(10);
      append();
      assertThat(item.read(340, new byte[SIZE], 0, SIZE)).isEqualTo(10);
      assertThat(item.read(SIZE, new byte[SIZE], 0, SIZE)).isEqualTo(-1);
      item.close();
      Files.write(file, expected);
    }
  }

  @Test
  void bytesReadCountAsStorageAndBytesServedAsMemory() throws IOException {
    PiecewiseItem item = blocks();
    read(item, 130, 20);
    read(item, 150, 20);
    assertThat(item.origin()).isEqualTo(Origin.STORAGE);
    assertThat(counted.of(Origin.STORAGE)).isEqualTo(40);
    assertThat(counted.misses()).isZero();
    assertThat(store.finds).as("looked up once").isEqualTo(1);

    admitting = true; // Now the block is fetched, once.
    read(item, 130, 20);
    read(item, 150, 20);
    admitting = false;
    read(item, 150, 20);
    assertThat(store.finds).isEqualTo(1);
    assertThat(store.fetches).isEqualTo(1);
    assertThat(counted.of(Origin.STORAGE)).isEqualTo(40 + PIECE);
    assertThat(counted.of(Origin.MEMORY)).isEqualTo(60);
    assertThat(counted.of(Outcome.ADMITTED)).isEqualTo(1);
    assertThat(counted.of(Outcome.HIT)).isZero();

    read(item, 230, 20);
    assertThat(counted.of(Outcome.HIT)).as("the next block is not cached").isZero();
    item.close();

    PiecewiseItem again = blocks();
    read(again, 130, 20);
    assertThat(again.origin()).isEqualTo(Origin.MEMORY);
    assertThat(counted.of(Outcome.HIT)).isEqualTo(1);
    assertThat(counted.of(Origin.MEMORY)).isEqualTo(80);
  }

  @Test
  void bytesFromAnotherHostCountAsPeerBytes() throws IOException {
    admitting = true;
    read(blocks(), 0, 1);
    Map<ItemKey, ByteBuffer> others = new HashMap<>(store.kept);
    ItemStore peer =
        new ItemStore() {
          @Override
          public ByteBuffer find(ItemKey key) {
            return null;
          }

          @Override
          public Fetched fetch(ItemKey key, int length, Loader loader) {
            return new Fetched(Outcome.PEER, others.get(key));
          }
        };
    StoreStatistics own = new StoreStatistics(null);
    OpenItem item =
        new PiecewiseItem(
            file.toString(),
            itemFile(),
            PIECE,
            false,
            new StampedItems(peer, peer),
            own,
            StoreGain.silent(),
            () -> true);
    assertThat(item.origin()).isEqualTo(Origin.MEMORY);
    assertThat(read(item, 10, 20)).isEqualTo(20);
    assertThat(item.origin()).isEqualTo(Origin.PEER);
    assertThat(own.of(Origin.PEER)).isEqualTo(PIECE);
    assertThat(own.of(Origin.MEMORY)).isEqualTo(20);
    assertThat(own.of(Origin.STORAGE)).isZero();
    assertThat(own.of(Outcome.PEER)).isEqualTo(1);
  }

  @Test
  void aFaultOfTheStoreIsReportedAndStorageIsRead() throws IOException {
    List<String> faults = new ArrayList<>();
    Bridge.install(
        SpanSink.NONE,
        ItemSource.NONE,
        (where, cause, tripped) -> faults.add(where + ": " + cause));
    store.broken = true;
    PiecewiseItem item = blocks();
    assertThat(read(item, 130, 20)).isEqualTo(20);
    assertThat(faults)
        .containsExactly("block 1 of " + file + ": java.lang.IllegalStateException: broken");
    item.close();
  }

  @Test
  void aSmallFileIsFetchedWholeIfItMayBeKept() throws IOException {
    PiecewiseItem item = whole();
    assertThat(item.fetchContent()).as("not admitting").isNull();
    admitting = true;
    ByteBuffer content = item.fetchContent();
    assertThat(Items.bytes(content)).isEqualTo(expected);
    assertThat(content.isReadOnly()).isTrue();
    assertThat(counted.of(Origin.STORAGE)).isEqualTo(SIZE);
    assertThat(counted.of(Origin.MEMORY)).isEqualTo(SIZE);
    assertThat(blocks().fetchContent()).as("larger than a block").isNull();
    item.close();
  }

  @Test
  void aChangedFileIsNeitherFetchedNorKept() throws IOException {
    admitting = true;
    PiecewiseItem item = whole();
    item.hold();
    Files.setLastModifiedTime(file, FileTime.fromMillis(1));
    assertThat(item.unchanged()).isFalse();
    assertThat(item.fetchContent()).isNull();
    assertThat(store.kept).isEmpty();
    assertThat(counted.of(Outcome.CHANGED)).isEqualTo(1);
    assertThat(item.fetchContent()).isNull();
    assertThat(read(item, 0, SIZE)).isEqualTo(SIZE);
    assertThat(store.fetches).as("the change is known by then").isEqualTo(1);
    item.close();
  }

  @Test
  void anItemIsHeldInMemoryOrElseItsFileIsHeldOpen() throws IOException {
    PiecewiseItem item = whole();
    item.hold();
    assertThat(Items.descriptors(file)).isEqualTo(1);
    item.close();
    assertThat(Items.descriptors(file)).isZero();
    assertThatThrownBy(() -> item.read(0, new byte[1], 0, 1)).hasMessage("Stream Closed");

    PiecewiseItem piece = blocks();
    piece.hold();
    assertThat(Items.descriptors(file)).isEqualTo(1);
    piece.close();

    admitting = true;
    PiecewiseItem first = whole();
    read(first, 0, 1);
    first.close();
    PiecewiseItem held = whole();
    held.hold();
    assertThat(Items.descriptors(file)).isZero();
    Files.delete(file);
    assertThat(read(held, 0, SIZE)).isEqualTo(SIZE);
    assertThat(held.origin()).isEqualTo(Origin.MEMORY);
    assertThat(counted.of(Outcome.HIT)).isEqualTo(1);
    assertThat(counted.of(Origin.MEMORY)).isEqualTo(1 + SIZE);
  }

  @Test
  void anItemReportsWhetherItsFileHasGrown() throws IOException {
    PiecewiseItem named = whole();
    PiecewiseItem held = whole();
    PiecewiseItem closed = whole();
    held.hold();
    closed.hold();
    closed.close();
    assertThat(named.unchanged()).isTrue();
    assertThat(named.grown()).isFalse();
    assertThat(held.grown()).isFalse();
    append();
    assertThat(named.unchanged()).isFalse();
    assertThat(named.grown()).isTrue();
    assertThat(held.grown()).isTrue();
    assertThat(closed.grown()).as("unknown after close").isFalse();
    held.close();
  }

  // ---- whole items

  @Test
  void aWholeItemEndsWithItsFile() throws IOException {
    OpenItem item =
        new WholeItem(file.toString(), itemFile(), ByteBuffer.wrap(expected), Origin.MEMORY);
    assertThat(read(item, 340, SIZE)).isEqualTo(10);
    assertThat(read(item, 0, SIZE + 1)).isEqualTo(SIZE);
    assertThat(item.read(SIZE, new byte[1], 0, 1)).isEqualTo(-1);
    assertThat(item.unchanged()).isTrue();
    assertThat(item.grown()).isFalse();
    append();
    assertThat(item.unchanged()).isFalse();
    assertThat(item.grown()).isTrue();
  }

  // ---- files

  @Test
  void aFileHasGrownIfItIsTheSameAndLonger() throws IOException {
    ItemFile item = itemFile();
    assertThat(item.grown()).isFalse();
    Files.setLastModifiedTime(file, FileTime.fromMillis(1));
    assertThat(item.grown()).as("changed, no longer").isFalse();
    append();
    assertThat(item.grown()).isTrue();
    replace(2 * SIZE);
    assertThat(item.grown()).as("another file").isFalse();
    Files.delete(file);
    assertThat(item.grown()).isFalse();
  }

  @Test
  void aReplacedFileIsNotLeftOpen() throws IOException {
    ItemFile item = itemFile();
    item.open().close();
    replace(SIZE);
    assertThatThrownBy(item::open).hasMessageContaining("is not the file that was opened");
    assertThat(Items.descriptors(file)).isZero();
    try (RandomAccessFile copy = item.reopen(ByteBuffer.wrap(expected))) {
      assertThat(Items.descriptors(file)).isZero();
      assertThat(copy.length()).isEqualTo(SIZE);
      assertThat(copy.read()).isEqualTo(expected[0] & 0xff);
    }
  }

  @Test
  void aGrownFileIsReadFromItsStart() throws IOException {
    ItemFile item = itemFile();
    append();
    try (RandomAccessFile grown = item.reopen(ByteBuffer.wrap(expected))) {
      assertThat(grown.length()).isEqualTo(SIZE + PIECE);
      assertThat(grown.read()).isEqualTo(expected[0] & 0xff);
    }
    try (RandomAccessFile copy = item.reopen(ByteBuffer.wrap(new byte[SIZE]))) {
      assertThat(copy.length()).as("its start differs").isEqualTo(SIZE);
    }
  }

  @Test
  void aFileThatEndsTooEarlyIsNotReadInFull() throws IOException {
    byte[] bytes = new byte[SIZE + 1];
    try (RandomAccessFile storage = new RandomAccessFile(file.toFile(), "r")) {
      assertThat(ItemFile.readFully(storage, bytes, 1, SIZE)).isTrue();
      assertThat(Arrays.copyOfRange(bytes, 1, SIZE + 1)).isEqualTo(expected);
      storage.seek(0);
      assertThat(ItemFile.readFully(storage, bytes, 0, SIZE + 1)).isFalse();
    }
  }
}
