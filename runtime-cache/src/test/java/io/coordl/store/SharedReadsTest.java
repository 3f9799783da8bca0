package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.FileReads;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads that share a stream, file or channel read each byte exactly once between them. */
class SharedReadsTest {
  private static final int THREADS = 4;
  private static final int RECORDS = 1_000_000;

  @TempDir Path directory;
  private ArenaStore store;
  private Path file;

  private interface Source {
    int read(byte[] record) throws IOException;
  }

  @BeforeEach
  void install() throws IOException {
    ByteBuffer records = ByteBuffer.allocate(4 * RECORDS);
    for (int i = 0; i < RECORDS; i++) {
      records.putInt(i);
    }
    file = Files.write(directory.resolve("records"), records.array());
    store = ArenaStore.openProcess(directory, ByteBudget.parse("8m"), line -> {});
    Bridge.install(SpanSink.NONE, new MinioCache(store, path -> true), FaultListener.NONE);
  }

  @AfterEach
  void uninstall() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    store.close();
  }

  private static void assertEachRecordIsReadOnce(Source source) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    try {
      CountDownLatch ready = new CountDownLatch(THREADS);
      List<Future<int[]>> shares = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        shares.add(
            pool.submit(
                () -> {
                  int[] mine = new int[RECORDS];
                  byte[] record = new byte[4];
                  ready.countDown();
                  ready.await();
                  while (source.read(record) == 4) {
                    mine[ByteBuffer.wrap(record).getInt()]++;
                  }
                  return mine;
                }));
      }
      int[] times = new int[RECORDS];
      for (Future<int[]> share : shares) {
        int[] part = share.get();
        Arrays.setAll(times, i -> times[i] + part[i]);
      }
      assertThat(Arrays.stream(times).filter(count -> count != 1).count()).isZero();
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void eachRecordIsReadOnceFromAFileInputStream() throws Exception {
    try (FileInputStream stream = FileReads.newFileInputStream(file.toFile())) {
      assertEachRecordIsReadOnce(stream::read);
    }
  }

  @Test
  void eachRecordIsReadOnceFromAStreamOfAPath() throws Exception {
    try (InputStream stream = FileReads.newInputStream(file)) {
      assertEachRecordIsReadOnce(stream::read);
    }
  }

  @Test
  void eachRecordIsReadOnceFromARandomAccessFile() throws Exception {
    try (RandomAccessFile random = FileReads.newRandomAccessFile(file.toFile(), "r")) {
      assertEachRecordIsReadOnce(random::read);
    }
  }

  @Test
  void eachRecordIsReadOnceFromAChannel() throws Exception {
    try (FileChannel channel = FileReads.open(file)) {
      assertEachRecordIsReadOnce(record -> channel.read(ByteBuffer.wrap(record)));
    }
  }

  @Test
  void positionDuringAReadStaysWithinTheBytesRead() throws Exception {
    store.close();
    // A new store per round, because the first read loads the whole file.
    for (int round = 0; round < 20; round++) {
      store = ArenaStore.openProcess(directory, ByteBudget.parse("8m"), line -> {});
      Bridge.install(SpanSink.NONE, new MinioCache(store, path -> true), FaultListener.NONE);
      try (RandomAccessFile random = FileReads.newRandomAccessFile(file.toFile(), "r")) {
        AtomicBoolean read = new AtomicBoolean();
        CountDownLatch observing = new CountDownLatch(1);
        AtomicLong farthest = new AtomicLong();
        Thread observer =
            new Thread(
                () -> {
                  try {
                    while (!read.get()) {
                      farthest.accumulateAndGet(random.getFilePointer(), Math::max);
                      observing.countDown();
                    }
                  } catch (IOException e) {
                    farthest.set(-1);
                  }
                });
        observer.start();
        observing.await();
        random.readInt();
        read.set(true);
        observer.join();
        assertThat(farthest.get()).isBetween(0L, 4L);
      }
      store.close();
    }
  }
}
