package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.host.Machine;
import io.coordl.host.SetupHolder;
import io.coordl.host.SharedFile;
import io.coordl.items.ItemFilter;
import io.coordl.items.ItemKey;
import io.coordl.items.ItemNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Another job of the group is stopped while it sets up the store, which stays locked. */
@Tag("slow")
class StoppedJobTest {
  private static final ItemKey KEY = new ItemKey(1, 2);

  private static final DecodedForm FORM = DecodedForm.of("pixels");

  @TempDir Path directory;
  private final List<String> logged = new CopyOnWriteArrayList<>();
  private Path file;

  @BeforeEach
  void createUnfinishedFile() throws IOException {
    file = SharedFile.path(directory, Machine.user(), "g", ArenaContents.HERE);
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  private ArenaStore open() throws IOException {
    return ArenaStore.openHost(directory, "g", ByteBudget.parse("4m"), logged::add);
  }

  private static Outcome fetch(ArenaStore store) throws IOException {
    return store.fetch(Items.key(1), Items.length(1), Items.loader(1)).outcome();
  }

  @Test
  void theStoreIsOpenedOnceTheStoppedJobContinues() throws Exception {
    try (SetupHolder other = new SetupHolder(file);
        ArenaStore store = open()) {
      assertThat(fetch(store)).isEqualTo(Outcome.FULL);
      assertThat(store.find(KEY)).isNull();
      assertThat(store.isAwaited(KEY)).isFalse();
      assertThat(store.hasRoom(1)).isFalse();
      assertThat(store.capacity()).isZero();
      assertThat(store.items()).isZero();
      assertThat(store.used()).isZero();
      assertThat(store.rates()).isNull();
      store.choose(new Rates(1, 1, 1, 1)); // Ignored: there is no store yet.
      assertThat(store.rates()).isNull();

      other.resume();
      store.awaitOpening();
      assertThat(fetch(store)).isEqualTo(Outcome.ADMITTED);
      assertThat(fetch(store)).isEqualTo(Outcome.HIT);
      assertThat(store.capacity()).isEqualTo(4 << 20);
      assertThat(store.rates()).isNull();
      assertThat(store.jobs()).isEqualTo(1);
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void prefetchingPausesWhileTheOtherJobIsStopped() throws Exception {
    Path item = Items.file(directory, "item", 1000);
    ItemFilter filter = ItemFilter.matching(List.of(item.toString()), ItemNames.HERE);
    try (SetupHolder other = new SetupHolder(file);
        ArenaStore store = open()) {
      MinioCache raw = new MinioCache(store, filter);
      DecodedItem decoded = new DecodedStore(store, filter).item(item.toString());
      assertThat(raw.isKept(item.toString())).isTrue();
      assertThat(decoded.isKept(FORM)).isTrue();
      other.resume();
      store.awaitOpening();
      assertThat(raw.isKept(item.toString())).isFalse();
      assertThat(decoded.isKept(FORM)).isFalse();
      assertThat(raw.prefetch(item.toString())).isTrue();
      assertThat(raw.isKept(item.toString())).isTrue();
    }
    Files.delete(item);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aLongWaitIsLogged() throws Exception {
    try (SetupHolder other = new SetupHolder(file);
        ArenaStore store = open()) {
      while (logged.isEmpty()) {
        LockSupport.parkNanos(1_000_000);
      }
      other.resume();
      store.awaitOpening();
      assertThat(fetch(store)).isEqualTo(Outcome.ADMITTED);
    }
    assertThat(logged.get(0))
        .isEqualTo(
            "Another job is setting up or leaving the store "
                + file
                + " but makes no progress (is it stopped?): nothing is cached until it does.");
    assertThat(logged.get(1))
        .matches("The other job finished after \\d+ s: this one uses the store .*\\.");
  }

  @Test
  void aJobThatEndsWhileItWaitsTakesNoStore() throws Exception {
    try (SetupHolder other = new SetupHolder(file)) {
      ArenaStore store = open();
      store.close();
      other.resume();
      store.awaitOpening();
      assertThat(fetch(store)).isEqualTo(Outcome.FULL);
    }
    assertThat(logged).isEmpty();
    assertThat(file).isEmptyFile(); // The stopped job's file; the next job to start deletes it.
  }
}
