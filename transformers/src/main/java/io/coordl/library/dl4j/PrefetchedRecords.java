package io.coordl.library.dl4j;

import io.coordl.bridge.Producers;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.pipeline.Prefetcher;
import io.coordl.thread.AgentThread;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.factory.Nd4j;

/**
 * {@code prefetch=N} where the program takes batches by hand: the next one is made on a thread of
 * the agent while the program computes on this one. What decides it is compared when it is asked
 * for, and it is made again if that is another. Its source is never used by two threads at once:
 * whoever asks for anything waits first. One epoch's; used as the iterator is.
 */
final class PrefetchedRecords implements BatchSource {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final BatchSource source;
  private final Prefetcher prefetcher;
  private final int batches;
  private final Integer device = Nd4j.getAffinityManager().getDeviceForCurrentThread();
  private int last = -1;
  private @Nullable Next next;

  /** The thread of the agent did not come out of the program's code: all is left there. */
  private boolean hangs;

  PrefetchedRecords(BatchSource source, Prefetcher prefetcher, int batches) {
    this.source = source;
    this.prefetcher = prefetcher;
    this.batches = batches;
  }

  @Override
  public boolean begin(IteratorEpoch owner) {
    return source.begin(owner);
  }

  @Override
  public @Nullable Object batch(int number) throws IOException {
    Next made = awaitNext();
    next = null;
    last = number;
    if (hangs) {
      return null;
    }
    if (made != null
        && made.number == number
        && made.batch != null
        && made.state.equals(state(number))) {
      prefetcher.used();
      return made.batch;
    }
    return source.batch(number);
  }

  private @Nullable Next awaitNext() {
    Next underWay = next;
    hangs |= underWay != null && !AgentThread.await(underWay.done, PATIENCE);
    return underWay;
  }

  @Override
  public boolean isKnown(int number) {
    Next made = awaitNext();
    return !hangs
        && ((made != null && made.number == number && made.batch != null)
            || source.isKnown(number));
  }

  @Override
  public @Nullable Object state(int number) {
    return source.state(number);
  }

  @Override
  public void finish(Object batch) {
    source.finish(batch);
    int number = last + 1;
    if (next == null
        && number < batches
        && prefetcher.isWorthwhile()
        && !isOfLibrary(Thread.currentThread())
        && Nd4j.getMemoryManager().getCurrentWorkspace() == null) {
      Object state = state(number);
      if (state != null) {
        begin(new Next(number, state));
      }
    }
  }

  /** Whether it is the thread that prefetches batches for {@code fit}. */
  static boolean isOfLibrary(Thread thread) {
    return thread.getClass().getSimpleName().equals("AsyncPrefetchThread");
  }

  private void begin(Next begun) {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    next = begun;
    try {
      prefetcher.batches().execute(() -> make(begun, loader));
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      next = null; // The job ends, or no thread can be started.
    }
  }

  private void make(Next begun, @Nullable ClassLoader loader) {
    Thread.currentThread().setContextClassLoader(loader);
    boolean inside = Producers.enter();
    long span = Spans.enter(SpanKind.PRODUCER, null);
    try {
      if (inside) {
        Nd4j.getAffinityManager().unsafeSetDevice(device);
        begun.batch = source.batch(begun.number);
      }
      if (begun.batch != null) {
        prefetcher.prepared();
      }
    } catch (Throwable t) {
      begun.batch = null; // The program's own call shows whether it throws then.
    } finally {
      Spans.exit(span, null);
      Thread.currentThread().setContextClassLoader(null);
      if (inside) {
        Producers.exit();
      }
      begun.done.countDown();
    }
  }

  @Override
  public void used() {
    source.used();
  }

  @Override
  public boolean isOver() {
    return hangs || source.isOver();
  }

  @Override
  public void end() {
    awaitNext();
    next = null;
    if (!hangs) {
      source.end();
    }
  }

  /** A batch that is, or was, made early. */
  private static final class Next {
    final int number;

    /** What decided it when it was begun. */
    final Object state;

    final CountDownLatch done = new CountDownLatch(1);
    volatile @Nullable Object batch;

    Next(int number, Object state) {
      this.number = number;
      this.state = state;
    }
  }
}
