package io.coordl.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.FileReads;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Another program of the same user truncates the file of a live store: storage answers. */
@Timeout(60)
class DamagedSegmentTest {
  private static final int FILES = 40;
  private static final int THREADS = 4;

  @TempDir Path data;
  @TempDir Path shared;
  private final List<String> words = new ArrayList<>();
  private ArenaStore store;

  private ArenaStore open() throws IOException {
    store = ArenaStore.openHost(shared, "damaged", () -> 16 << 20, words::add);
    Bridge.install(SpanSink.NONE, new MinioCache(store, path -> true), FaultListener.NONE);
    return store;
  }

  @AfterEach
  void uninstall() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
  }

  private void truncate(long length) throws IOException {
    Path path = store.path();
    // From another process: closing any descriptor of the file here would drop the job's locks.
    try {
      Process process =
          new ProcessBuilder("truncate", "-s", Long.toString(length), path.toString())
              .inheritIO()
              .start();
      assertThat(process.waitFor()).isZero();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private List<Path> files() throws IOException {
    List<Path> files = new ArrayList<>();
    for (int i = 0; i < FILES; i++) {
      files.add(Items.file(data, "item" + i, 20_000 + i));
    }
    return files;
  }

  @Test
  void whatTheSegmentHeldIsReadFromStorage() throws IOException {
    List<Path> files = files();
    for (long length : new long[] {0, 4096, 200_000}) {
      open();
      for (Path file : files) {
        FileReads.readAllBytes(file);
      }
      Path first = files.get(0);
      try (InputStream stream = FileReads.newFileInputStream(first.toFile());
          FileChannel channel = FileReads.open(first)) {
        byte[] begun = stream.readNBytes(100);
        truncate(length);
        byte[] rest = stream.readAllBytes();
        assertThat(rest).isEqualTo(Arrays.copyOfRange(Files.readAllBytes(first), 100, 20_000));
        assertThat(begun).isEqualTo(Arrays.copyOf(Files.readAllBytes(first), 100));
        ByteBuffer all = ByteBuffer.allocate(20_000);
        while (all.hasRemaining() && channel.read(all) >= 0) {}
        assertThat(all.array()).isEqualTo(Files.readAllBytes(first));
      }
      for (Path file : files) {
        assertThat(FileReads.readAllBytes(file)).isEqualTo(Files.readAllBytes(file));
      }
      store.close();
      uninstall();
    }
  }

  @Test
  void anItemThatWasNeverCheckedIsReadFromStorage() throws IOException {
    List<Path> files = files();
    open();
    for (Path file : files) {
      FileReads.readAllBytes(file);
    }
    store.forgetChecks(); // As one that has just joined.
    truncate(1 << 16);
    for (Path file : files) {
      assertThat(FileReads.readAllBytes(file)).isEqualTo(Files.readAllBytes(file));
    }
    store.close();
  }

  @Test
  void threadsThatReadAndAdmitMeanwhileSeeNoErrorAndNoneHangs() throws Exception {
    List<Path> files = files();
    for (int round = 0; round < 10; round++) {
      open();
      for (int i = 0; i < FILES / 2; i++) {
        FileReads.readAllBytes(files.get(i));
      }
      ExecutorService pool = Executors.newFixedThreadPool(THREADS);
      CountDownLatch under = new CountDownLatch(THREADS);
      List<Future<?>> readers = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int from = t;
        readers.add(
            pool.submit(
                () -> {
                  under.countDown();
                  for (int i = 0; i < 5 * FILES; i++) {
                    Path file = files.get((i + 7 * from) % FILES);
                    try (InputStream stream = FileReads.newFileInputStream(file.toString())) {
                      assertThat(stream.readAllBytes()).isEqualTo(Files.readAllBytes(file));
                    }
                  }
                  return null;
                }));
      }
      assertThat(under.await(30, TimeUnit.SECONDS)).isTrue();
      truncate(0);
      for (Future<?> reader : readers) {
        reader.get(30, TimeUnit.SECONDS);
      }
      pool.shutdown();
      MinioCache cache = new MinioCache(store, path -> true);
      assertThat(cache.statistics().items()).isGreaterThanOrEqualTo(0);
      store.close();
      uninstall();
    }
  }

  @Test
  void aDamagedStoreIsSaidOnceAndAFreshOneMayBeMade() throws IOException {
    List<Path> files = files();
    open();
    FileReads.readAllBytes(files.get(0));
    truncate(0);
    for (Path file : files) {
      FileReads.readAllBytes(file);
    }
    assertThat(words).filteredOn(word -> word.contains("damaged")).hasSize(1);
    store.close();
    words.clear();
    open();
    FileReads.readAllBytes(files.get(0));
    assertThat(store.items()).isEqualTo(1);
    store.close();
  }
}
