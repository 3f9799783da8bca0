package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.items.FileState;
import io.coordl.items.ItemFile;
import io.coordl.items.ItemNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store whose files are read again without a hit is disabled; a store with enough hits is not.
 */
class StoreGainTest {
  private static final int FILES = 40;

  @TempDir Path directory;
  @TempDir Path arena;
  private final List<String> logged = new ArrayList<>();
  private final AtomicInteger stops = new AtomicInteger();
  private final List<Path> files = new ArrayList<>();
  private ArenaStore store;

  @BeforeEach
  void write() throws IOException {
    for (int i = 0; i < FILES; i++) {
      files.add(Items.file(directory, "f" + i, 5000));
    }
    store = ArenaStore.openProcess(arena, ByteBudget.parse("8m"), logged::add);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private StoreGain gain() {
    return new StoreGain(
        "cache=minio",
        logged::add,
        () -> {
          stops.incrementAndGet();
          store.giveBack();
        });
  }

  private void date(int epoch) throws IOException {
    for (Path file : files) {
      Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000L * epoch));
    }
  }

  private void read(MinioCache cache) throws IOException {
    for (Path file : files) {
      cache.open(file.toString()).close();
      cache.openRandomAccess(file.toString()).close();
    }
  }

  @Test
  void filesThatChangeEveryEpochAreNoLongerKeptAndTheirMemoryIsGivenBack() throws IOException {
    MinioCache cache = new MinioCache(store, path -> true, new KeptForms(), () -> true, gain());
    for (int epoch = 0; epoch < 5; epoch++) {
      date(epoch);
      for (Path file : files) {
        cache.open(file.toString()).close();
      }
    }
    assertThat(stops).hasValue(1);
    assertThat(logged).singleElement().asString().contains("cache=minio gains nothing");
    assertThat(cache.statistics().of(Outcome.ADMITTED)).isEqualTo(2 * FILES);
    assertThat(cache.statistics().used()).isZero();
    assertThat(cache.open(files.get(0).toString()).served()).isFalse();
    assertThat(cache.openRandomAccess(files.get(0).toString()).served()).isFalse();
    assertThat(cache.prefetch(files.get(0).toString())).isFalse();
  }

  @Test
  void decodedItemsOfFilesThatChangeEveryEpochAreNoLongerKept() throws IOException {
    StoreGain gain = gain();
    DecodedStore decoded = new DecodedStore(store, path -> true, new KeptForms(), () -> true, gain);
    DecodedForm form = DecodedForm.of("pixels");
    for (int epoch = 0; epoch < 2; epoch++) {
      date(epoch);
      for (Path file : files) {
        decoded.item(file.toString()).put(form, 3, target -> target.put(new byte[3]));
      }
    }
    assertThat(gain.isStopped()).isTrue();
    assertThat(decoded.item(files.get(0).toString())).isNull();
  }

  @Test
  void rewritingAllFilesEveryThirdEpochDoesNotStopAStoreWithHits() throws IOException {
    StoreGain gain = gain();
    MinioCache cache = new MinioCache(store, path -> true, new KeptForms(), () -> true, gain);
    for (int epoch = 0; epoch < 12; epoch++) {
      if (epoch % 3 == 0) {
        date(epoch);
      }
      read(cache);
    }
    assertThat(gain.isStopped()).isFalse();
    assertThat(logged).isEmpty();
  }

  @Test
  void aSampleOfTheFilesSufficesIfNotAllCanBeRemembered() {
    StoreGain gain = gain();
    int many = 10 * StoreGain.MAX_FILES;
    int again = 0;
    for (int epoch = 0; !gain.isStopped() && epoch < 3; epoch++) {
      for (int i = 0; i < many && !gain.isStopped(); i++) {
        FileState state = new FileState(100, epoch, epoch, 1, i + 1);
        gain.missed(new ItemFile("/data/" + i, state, null, ItemNames.HERE));
        again += epoch > 0 ? 1 : 0;
      }
    }
    assertThat(gain.isStopped()).isTrue();
    assertThat(again).as("of " + many + " files").isBetween(many / 2, many);
  }
}
