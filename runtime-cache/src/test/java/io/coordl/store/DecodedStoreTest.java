package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Origin;
import io.coordl.items.ItemFilter;
import io.coordl.items.ItemNames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An item is found only for the file and form for which it was stored. */
class DecodedStoreTest {
  private static final DecodedForm COLOR = DecodedForm.of("library 1 color");
  private static final DecodedForm GRAY = DecodedForm.of("library 1 gray");

  @TempDir Path directory;
  @TempDir Path arena;
  private final AtomicBoolean loadingSample = new AtomicBoolean(true);
  private Path file;
  private DecodedStore store;

  @BeforeEach
  void open() throws IOException {
    file = Items.file(directory, "a", 100);
    store = open("16m");
  }

  private DecodedStore open(String budget) {
    ArenaStore opened = ArenaStore.openProcess(arena, ByteBudget.parse(budget), line -> {});
    return new DecodedStore(opened, ItemFilter.inferred(loadingSample::get, ItemNames.HERE));
  }

  @AfterEach
  void close() {
    store.close();
  }

  private DecodedItem item() {
    return store.item(file.toString());
  }

  private static void put(DecodedItem item, DecodedForm form, byte[] pixels) {
    item.put(form, pixels.length, target -> target.put(pixels));
  }

  @Test
  void aStoredItemIsFound() {
    byte[] pixels = Items.content(7);
    assertThat(item().find(COLOR)).isNull();
    put(item(), COLOR, pixels);
    ByteBuffer found = item().find(COLOR);
    assertThat(Items.bytes(found)).isEqualTo(pixels);
    assertThat(found.isReadOnly()).isTrue();
    StoreStatistics statistics = store.statistics();
    assertThat(statistics.of(Outcome.ADMITTED)).isEqualTo(1);
    assertThat(statistics.of(Outcome.HIT)).isEqualTo(1);
    assertThat(statistics.of(Origin.MEMORY)).isEqualTo(pixels.length);
  }

  @Test
  void checkingForAnItemIsNotAHit() {
    assertThat(item().isKept(COLOR)).isFalse();
    put(item(), COLOR, new byte[10]);
    assertThat(item().isKept(COLOR)).isTrue();
    assertThat(item().isKept(GRAY)).isFalse();
    assertThat(item().unchanged()).isTrue();
    assertThat(store.statistics().of(Outcome.HIT)).isZero();
  }

  @Test
  void decodedBytesCountOnceEvenIfNotKept() {
    put(item(), COLOR, new byte[10]);
    put(item(), COLOR, new byte[10]); // Already stored.
    assertThat(store.statistics().of(Origin.STORAGE)).isEqualTo(10);
    long tooLong = DecodedStore.MAX_BYTES + 1L;
    item().put(COLOR, tooLong, target -> {});
    assertThat(store.statistics().of(Origin.STORAGE)).isEqualTo(10 + tooLong);
  }

  @Test
  void aClosedStoreFindsAndKeepsNothing() {
    put(item(), COLOR, new byte[10]);
    store.close();
    assertThat(item().find(COLOR)).isNull();
    put(item(), GRAY, new byte[10]);
    assertThat(item().find(GRAY)).isNull();
  }

  @Test
  void anotherFormIsAnotherItem() {
    put(item(), COLOR, new byte[] {1, 2, 3});
    assertThat(item().find(GRAY)).isNull();
    put(item(), GRAY, new byte[] {4});
    assertThat(Items.bytes(item().find(COLOR))).containsExactly(1, 2, 3);
    assertThat(Items.bytes(item().find(GRAY))).containsExactly(4);
  }

  @Test
  void aChangedFileIsANewItem() throws IOException {
    put(item(), COLOR, new byte[10]);
    Files.setLastModifiedTime(file, FileTime.fromMillis(1));
    assertThat(item().find(COLOR)).isNull();
  }

  @Test
  void aFileThatChangedWhileItWasDecodedIsNotKept() throws IOException {
    DecodedItem before = item();
    Files.setLastModifiedTime(file, FileTime.fromMillis(1));
    assertThat(before.unchanged()).isFalse();
    put(before, COLOR, new byte[10]);
    assertThat(before.find(COLOR)).isNull();
    assertThat(item().find(COLOR)).isNull();
    assertThat(store.statistics().of(Outcome.CHANGED)).isEqualTo(1);
  }

  @Test
  void aFullStoreKeepsItsItemsAndAdmitsNoMore() {
    store.close();
    store = open("1m");
    byte[] large = new byte[600_000];
    assertThat(store.mayKeepMore()).isTrue();
    put(item(), COLOR, large);
    assertThat(store.mayKeepMore()).as("an item as long as the first").isFalse();
    put(item(), GRAY, large);
    assertThat(item().find(COLOR)).isNotNull();
    assertThat(item().find(GRAY)).isNull();
    assertThat(store.statistics().of(Outcome.FULL)).isEqualTo(1);
  }

  @Test
  void theLongestItemIsKept() {
    byte[] longest = new byte[DecodedStore.MAX_BYTES];
    longest[longest.length - 1] = 1;
    put(item(), COLOR, longest);
    assertThat(Items.bytes(item().find(COLOR))).isEqualTo(longest);
    assertThat(store.statistics().of(Outcome.FULL)).isZero();
    assertThat(store.statistics().of(Origin.STORAGE)).isEqualTo(longest.length);
  }

  @Test
  void anItemThatIsTooLargeIsNotCopied() {
    item()
        .put(
            COLOR,
            DecodedStore.MAX_BYTES + 1L,
            target -> {
              throw new AssertionError("copied");
            });
    assertThat(item().find(COLOR)).isNull();
    assertThat(store.statistics().of(Outcome.FULL)).isEqualTo(1);
  }

  @Test
  void onlyItemsAreDecodedThroughTheStore() {
    assertThat(store.item(directory.resolve("missing").toString())).isNull();
    assertThat(store.item(directory.toString())).isNull();
    loadingSample.set(false);
    assertThat(item()).isNull();
  }
}
