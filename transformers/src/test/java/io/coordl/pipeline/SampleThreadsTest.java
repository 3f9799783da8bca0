package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.bridge.Producers;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Several threads make the samples of a batch. */
class SampleThreadsTest {
  private final Prefetcher threads = new Prefetcher(null, () -> 4);

  @AfterEach
  void end() {
    threads.close();
  }

  @Test
  void eachSampleIsMadeOnce() throws Exception {
    for (int helpers = 0; helpers < 6; helpers++) {
      AtomicIntegerArray made = new AtomicIntegerArray(50);
      SampleThreads.run(50, helpers, threads.samples(), made::incrementAndGet);
      for (int i = 0; i < 50; i++) {
        assertThat(made.get(i)).isEqualTo(1);
      }
    }
  }

  @Test
  void filesOpenedByHelpersReachTheCallersListener() throws Exception {
    Set<Thread> seen = ConcurrentHashMap.newKeySet();
    Set<String> opened = ConcurrentHashMap.newKeySet();
    CountDownLatch two = new CountDownLatch(2);
    Producers.listen(opened::add);
    try {
      SampleThreads.run(
          2,
          1,
          threads.samples(),
          place -> {
            seen.add(Thread.currentThread());
            Producers.opens("file " + place);
            two.countDown();
            assertThat(two.await(5, TimeUnit.MINUTES)).isTrue();
          });
    } finally {
      Producers.listen(null);
    }
    assertThat(seen).hasSize(2);
    assertThat(opened).containsExactlyInAnyOrder("file 0", "file 1");
  }

  @Test
  void firstFailureEndsTheBatch() {
    AtomicIntegerArray made = new AtomicIntegerArray(1000);
    assertThatThrownBy(
            () ->
                SampleThreads.run(
                    1000,
                    3,
                    threads.samples(),
                    place -> {
                      made.incrementAndGet(place);
                      if (place == 3) {
                        throw new IllegalArgumentException("at place 3");
                      }
                    }))
        .hasMessage("at place 3");
    assertThat(made.get(999)).isZero();
  }

  @Test
  void withoutHelpersTheCallerMakesAll() throws Exception {
    Executor none =
        task -> {
          throw new RejectedExecutionException();
        };
    AtomicIntegerArray made = new AtomicIntegerArray(5);
    SampleThreads.run(5, 3, none, made::incrementAndGet);
    Executor never = task -> {};
    SampleThreads.run(5, 3, never, made::incrementAndGet);
    assertThat(made).hasToString("[2, 2, 2, 2, 2]");
  }
}
