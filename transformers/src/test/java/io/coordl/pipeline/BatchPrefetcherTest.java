package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.InterceptedCall;
import io.coordl.purity.PurityAnalyzer;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The prefetcher releases dropped data sets, and waits for hanging code only once. */
class BatchPrefetcherTest {
  private static final int BATCHES = 4;

  private final List<String> said = Collections.synchronizedList(new ArrayList<>());
  private final Prefetcher prefetcher = new Prefetcher(null, () -> 1);
  private final BatchPrefetcher batches =
      new BatchPrefetcher(
          Services.builder(said::add).prefetcher(prefetcher, 1).build(),
          new PurityAnalyzer("none.", new NoLibrary()),
          new ForkableRandom(),
          "the generator",
          batch -> {});

  private static final class NoLibrary implements PurityAnalyzer.Known {
    @Override
    public boolean isClosed(Class<?> declaring) {
      return false;
    }

    @Override
    public boolean isKnown(String owner, String method) {
      return false;
    }
  }

  /** An epoch whose batches are numbers. */
  private record Numbers(
      Object dataset, PeekingIterator<Integer> upcoming, UnaryOperator<Object> prepares)
      implements LibraryEpoch {
    static Numbers of(UnaryOperator<Object> prepares) {
      return new Numbers(
          new Object(),
          new PeekingIterator<>(IntStream.range(0, BATCHES).iterator(), 1, next -> {}),
          prepares);
    }

    @Override
    public Object settings() {
      return "none";
    }

    @Override
    public Object prefetch(Object settings, Object samples, int position) {
      return prepares.apply(samples);
    }
  }

  private InterceptedCall next(Numbers epoch) {
    return batches.enter(epoch, epoch.upcoming.next(), 0);
  }

  private WeakReference<Object> dataSetOfAnEpoch(int batchesTaken) {
    Numbers epoch = Numbers.of(samples -> samples);
    batches.begin(epoch.dataset);
    for (int i = 0; i < batchesTaken; i++) {
      assertThat(next(epoch).result(i)).isEqualTo(i);
    }
    return new WeakReference<>(epoch.dataset);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, BATCHES})
  void droppedDataSetIsFreedWithoutAnotherEpoch(int batchesTaken) {
    WeakReference<Object> dataset = dataSetOfAnEpoch(batchesTaken);
    prefetcher.close(); // Its thread no longer refers to the last batch.
    for (int i = 0; i < 20 && dataset.get() != null; i++) {
      System.gc();
    }
    assertThat(dataset.get()).isNull();
    assertThat(prefetcher.count()).isPositive();
    assertThat(said).isEmpty();
  }

  /** Runs an action on a new thread; returns the thread's state once it has ended or waits. */
  private static Thread.State stateAfter(Runnable does) {
    Thread thread = new Thread(does);
    thread.start();
    Thread.State state = thread.getState();
    while (state != Thread.State.TERMINATED && state != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
      state = thread.getState();
    }
    return state;
  }

  @Test
  void hangingThreadIsWaitedForOnce() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    Numbers epoch =
        Numbers.of(
            samples -> {
              inside.countDown();
              try {
                release.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
              return samples;
            });
    try {
      next(epoch).result(0);
      inside.await();
      batches.patience = Duration.ofNanos(1);
      assertThat(next(epoch)).isNull();
      batches.patience = Duration.ofDays(1);
      assertThat(stateAfter(batches::prepare)).isEqualTo(Thread.State.TERMINATED);
      assertThat(next(epoch)).isNull();
      assertThat(said).singleElement().asString().contains("a batch hangs");
    } finally {
      release.countDown();
      prefetcher.close();
    }
    batches.prepare();
    assertThat(next(epoch)).as("once it has returned").isNotNull();
  }
}
