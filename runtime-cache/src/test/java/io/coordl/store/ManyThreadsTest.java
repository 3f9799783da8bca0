package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.items.ItemKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Measures contention between busy threads in a store by counting retries rather than time. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ManyThreadsTest {
  private static final int LENGTH = 64;
  private static final int ITEMS = 512;

  /** Counts compare-and-set operations, and how many of them must be retried. */
  private static final class Counted extends WrappedMemory {
    final AtomicLong calls = new AtomicLong();
    final AtomicLong failures = new AtomicLong();

    Counted() {
      super(new DirectMemory(8 << 20));
    }

    @Override
    boolean compareAndSet(long at, long expected, long value) {
      calls.incrementAndGet();
      boolean set = super.compareAndSet(at, expected, value);
      if (!set) {
        failures.incrementAndGet();
      }
      return set;
    }
  }

  private final Counted memory = new Counted();
  private ArenaStore store;

  @BeforeEach
  void open() throws Exception {
    ArenaStore.format(memory);
    store = new ArenaStore(memory, null, 1, job -> job == 1, "", line -> {});
    store.measureBy(before -> false);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private static ItemKey key(int number) {
    return ItemKey.of("/item/" + number, LENGTH, 0, ItemKey.WHOLE);
  }

  private Outcome admit(int number) throws Exception {
    return store
        .fetch(
            key(number),
            LENGTH,
            (target, offset) -> {
              target[offset] = (byte) number;
              return true;
            })
        .outcome();
  }

  private interface Turn {
    void run(int thread) throws Exception;
  }

  /** Runs {@code turn} on this many threads, which begin together. */
  private static void together(int threads, Turn turn) throws InterruptedException {
    CountDownLatch ready = new CountDownLatch(threads);
    AtomicInteger done = new AtomicInteger();
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int number = i;
      Thread thread =
          new Thread(
              () -> {
                ready.countDown();
                try {
                  ready.await();
                  turn.run(number);
                  done.incrementAndGet();
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
      thread.start();
      all.add(thread);
    }
    for (Thread thread : all) {
      thread.join();
    }
    assertThat(done).hasValue(threads);
  }

  /** Like {@link #together}, while this thread holds the store's lock. */
  private void togetherWhileLocked(int threads, Turn turn) throws InterruptedException {
    ArenaStore locked = store;
    synchronized (locked) {
      together(threads, turn);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16, 64})
  void findingItemsTakesNoLockAndRetriesNothing(int threads) throws Exception {
    for (int i = 0; i < ITEMS; i++) {
      assertThat(admit(i)).isEqualTo(Outcome.ADMITTED);
    }
    memory.calls.set(0);
    togetherWhileLocked(
        threads,
        thread -> {
          for (int i = 0; i < ITEMS; i++) {
            assertThat(store.find(key(i)).get(0)).isEqualTo((byte) i);
          }
        });
    assertThat(memory.calls).hasValue(0);
  }

  /** A thread retries an operation only if another changed the word after the thread read it. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16, 64})
  void admittingItemsTakesNoLockAndRetriesRarely(int threads) throws Exception {
    memory.calls.set(0);
    memory.failures.set(0);
    togetherWhileLocked(
        threads,
        thread -> {
          for (int i = thread; i < ITEMS; i += threads) {
            assertThat(admit(i)).isEqualTo(Outcome.ADMITTED);
          }
        });
    assertThat(memory.failures.get()).isLessThan(ITEMS);
    // One each to claim a slot, to take memory, and to publish the item.
    assertThat(memory.calls.get() - memory.failures.get()).isEqualTo(3L * ITEMS);
  }

  /** Threads that need the same item load it once between them. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16, 64})
  void threadsThatWantTheSameItemClaimItOnce(int threads) throws Exception {
    AtomicInteger admitted = new AtomicInteger();
    together(
        threads,
        thread -> {
          for (int i = 0; i < ITEMS; i++) {
            if (admit(i) == Outcome.ADMITTED) {
              admitted.incrementAndGet();
            }
          }
        });
    assertThat(admitted).hasValue(ITEMS);
    assertThat(memory.calls.get() - memory.failures.get()).isEqualTo(3L * ITEMS);
  }
}
