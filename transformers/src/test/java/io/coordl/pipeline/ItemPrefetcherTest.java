package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.store.MinioCache;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Prefetching is bounded, and the program does not notice it. */
class ItemPrefetcherTest {
  private static final int MAX_QUEUED = 8 * ItemPrefetcher.WINDOW;

  private volatile boolean room = true;
  private final AtomicInteger threads = new AtomicInteger(1);
  private final ItemPrefetcher items = new ItemPrefetcher(threads::get, null, this::hasRoom);
  private final Object epoch = new Object();
  private final Set<String> decoded = ConcurrentHashMap.newKeySet();
  private final CountDownLatch inside = new CountDownLatch(1);
  private final CountDownLatch proceed = new CountDownLatch(1);

  private boolean hasRoom() {
    return room;
  }

  @AfterEach
  void close() {
    proceed.countDown();
    items.close();
  }

  /** Caches all that it decodes, once the test lets it proceed. */
  private final class Waiting implements ItemPrefetcher.Decoder {
    @Override
    public boolean isKept(String path) {
      return decoded.contains(path);
    }

    @Override
    public boolean decode(String path) throws InterruptedException {
      inside.countDown();
      proceed.await();
      return decoded.add(path);
    }
  }

  /** Offers a last item and waits for it: no earlier item is in progress afterwards. */
  private void awaitAll() throws InterruptedException {
    CountDownLatch last = new CountDownLatch(1);
    do {
      items.offer(
          "last",
          new ItemPrefetcher.Decoder() {
            @Override
            public boolean isKept(String path) {
              last.countDown();
              return true;
            }

            @Override
            public boolean decode(String path) {
              throw new AssertionError("it is kept");
            }
          },
          epoch);
    } while (!last.await(10, TimeUnit.MILLISECONDS));
  }

  @Test
  void queueIsBounded() throws InterruptedException {
    Waiting decoder = new Waiting();
    items.offer("first", decoder, epoch);
    inside.await();
    for (int i = 0; i < 3 * MAX_QUEUED; i++) {
      items.offer("item " + i, decoder, epoch);
    }
    proceed.countDown();
    awaitAll();
    assertThat(decoded).hasSize(1 + MAX_QUEUED);
    assertThat(items.fetched()).isEqualTo(1 + MAX_QUEUED);
  }

  @Test
  void noFileIsReadForAFullStore() throws InterruptedException {
    Waiting decoder = new Waiting();
    items.offer("first", decoder, epoch);
    inside.await();
    items.offer("second", decoder, epoch);
    room = false;
    proceed.countDown();
    items.close();
    assertThat(items.isWorthwhile(true)).isFalse();
    assertThat(decoded).containsExactly("first");
  }

  @Test
  void requestedItemsAreLeftToTheProgram() throws InterruptedException {
    Waiting decoder = new Waiting();
    items.offer("first", decoder, epoch);
    inside.await();
    items.offer("second", decoder, epoch);
    items.awaitIfFetching("second");
    proceed.countDown();
    awaitAll();
    assertThat(decoded).containsExactly("first");
  }

  @Test
  void programWaitsForAnItemInProgressAndStaysInterrupted() throws InterruptedException {
    items.offer("first", new Waiting(), epoch);
    inside.await();
    boolean[] interrupted = {false};
    Thread program =
        new Thread(
            () -> {
              Thread.currentThread().interrupt();
              items.awaitIfFetching("first");
              interrupted[0] = Thread.currentThread().isInterrupted() && decoded.contains("first");
            });
    program.start();
    while (program.getState() != Thread.State.TIMED_WAITING) {
      assertThat(program.isAlive()).as("waits").isTrue();
      Thread.onSpinWait();
    }
    proceed.countDown();
    program.join();
    assertThat(interrupted[0]).isTrue();
  }

  @Test
  void failedFetchesDoNotStopDecoding() throws InterruptedException {
    MinioCache failing =
        new MinioCache(
            null,
            path -> {
              throw new IllegalStateException("no files");
            });
    try (ItemPrefetcher both = new ItemPrefetcher(() -> 1, failing, () -> true)) {
      while (both.isWorthwhile(false)) {
        both.offer("raw", null, epoch);
      }
      proceed.countDown();
      CountDownLatch last = new CountDownLatch(1);
      both.offer("picture", new Waiting(), epoch);
      both.offer(
          "last",
          new ItemPrefetcher.Decoder() {
            @Override
            public boolean isKept(String path) {
              last.countDown();
              return true;
            }

            @Override
            public boolean decode(String path) {
              throw new AssertionError("it is kept");
            }
          },
          epoch);
      assertThat(last.await(10, TimeUnit.MINUTES)).as("decoding continues").isTrue();
      assertThat(decoded).containsExactly("picture");
    }
  }

  @Test
  void threadCountFollowsItsLimit() throws InterruptedException {
    items.offer("alone", new Waiting(), epoch);
    inside.await();
    threads.set(3);
    CountDownLatch together = new CountDownLatch(2);
    for (String item : new String[] {"one", "other"}) {
      items.offer(
          item,
          new ItemPrefetcher.Decoder() {
            @Override
            public boolean isKept(String path) {
              together.countDown();
              return true;
            }

            @Override
            public boolean decode(String path) {
              throw new AssertionError("it is kept");
            }
          },
          epoch);
    }
    assertThat(together.await(10, TimeUnit.MINUTES)).as("others fetch at the same time").isTrue();
    threads.set(0);
    assertThat(items.isWorthwhile(true)).isFalse();
  }

  @Test
  void manyConsecutiveFailuresStopPrefetching() throws InterruptedException {
    AtomicInteger tried = new AtomicInteger();
    ItemPrefetcher.Decoder failing =
        new ItemPrefetcher.Decoder() {
          @Override
          public boolean isKept(String path) {
            return false;
          }

          @Override
          public boolean decode(String path) throws IOException {
            tried.incrementAndGet();
            throw new IOException("no picture");
          }
        };
    for (int i = 0; i < 1000; i++) {
      items.offer("item " + i, failing, epoch);
    }
    while (items.isWorthwhile(true)) {
      Thread.onSpinWait();
    }
    items.close();
    assertThat(tried.get()).isLessThan(100);
    assertThat(items.fetched()).isZero();
  }
}
