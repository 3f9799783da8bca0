package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Measures the cost of many threads per batch and per sample by counting, not by timing. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ManySampleThreadsTest {
  private static final int SAMPLES = 4096;

  private static void spin() {
    for (int i = 0; i < 100; i++) {
      Thread.onSpinWait();
    }
  }

  /** Another thread holds the only lock while all samples are made. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16, 64})
  void samplesTakeNoLock(int threads) throws Exception {
    AtomicIntegerArray made = new AtomicIntegerArray(SAMPLES);
    SampleThreads run =
        new SampleThreads(
            SAMPLES,
            place -> {
              spin();
              made.incrementAndGet(place);
            });
    List<Thread> all = new ArrayList<>();
    synchronized (run) {
      for (int i = 0; i < threads; i++) {
        Thread thread = new Thread(run::takeAll);
        thread.start();
        all.add(thread);
      }
      for (Thread thread : all) {
        thread.join();
      }
    }
    for (int i = 0; i < SAMPLES; i++) {
      assertThat(made.get(i)).isEqualTo(1);
    }
  }

  /** A batch is handed to each helper once, however many samples it has. */
  @ParameterizedTest
  @CsvSource({"2,100", "4,100", "8,100", "16,100", "64,100", "64,4096"})
  void aBatchIsHandedToEachHelperOnce(int threads, int samples) throws Exception {
    AtomicInteger handed = new AtomicInteger();
    CountDownLatch helping = new CountDownLatch(threads);
    List<Thread> helpers = new ArrayList<>();
    SampleThreads.run(
        samples,
        threads - 1,
        task -> {
          handed.incrementAndGet();
          Thread helper = new Thread(task);
          helpers.add(helper);
          helper.start();
        },
        place -> {
          if (place < threads) {
            helping.countDown();
            helping.await(); // So that each thread takes a sample.
          }
          spin();
        });
    assertThat(handed).hasValue(threads - 1);
    for (Thread helper : helpers) {
      helper.join();
    }
  }

  /** The cores are shared by all batches; {@code wanted} is the value of {@code prefetch}. */
  @ParameterizedTest
  @CsvSource({
    "2, 16, 1, 1",
    "16, 16, 1, 15",
    "64, 16, 1, 15",
    "8, 2, 1, 1",
    "8, 1, 1, 0",
    "8, 16, 4, 7",
    "8, 4, 3, 1",
    "8, 4, 9, 0",
    "0, 4, 1, 0"
  })
  void helpersLeaveCoresToTheProgramsOwnThreads(
      int wanted, int cores, int requesting, int helpers) {
    assertThat(Prefetcher.helpers(wanted, cores, requesting)).isEqualTo(helpers);
  }

  /** Counts the requesting thread and its helpers. */
  @Test
  void aBatchUsesNoMoreThreadsThanCores() throws Exception {
    AtomicInteger now = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    try (Prefetcher prefetcher = new Prefetcher(null, () -> 64)) {
      for (int batch = 0; batch < 50; batch++) {
        prefetcher.eachSample(
            200,
            place -> {
              most.accumulateAndGet(now.incrementAndGet(), Math::max);
              spin();
              now.decrementAndGet();
            });
      }
      assertThat(most.get()).isBetween(1, Runtime.getRuntime().availableProcessors());
      assertThat(prefetcher.threadsFor(64))
          .isEqualTo(Math.min(64, Runtime.getRuntime().availableProcessors()));
    }
  }
}
