package io.coordl.pipeline;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.Producers;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.host.AgentThread;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One batch that is prepared on the prefetcher's thread before the program requests it. Either the
 * program gets the batch, or it is discarded and freed exactly once. Thread-safe.
 */
final class EarlyBatch {
  /**
   * Maximum time that the program waits for the batch. Bounded because the maker may need a lock
   * that the waiting program holds; any other hang would also occur in the program's own call.
   */
  static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Null once started, because it may refer to the program's data set. */
  private @Nullable Callable<? extends @Nullable Object> maker;

  private final Consumer<Object> drop;
  private final CountDownLatch done = new CountDownLatch(1);
  private @Nullable Object batch;
  private boolean discarded;

  /**
   * Creates a batch without starting it.
   *
   * @param maker prepares the batch; returns null, or throws, if there is none
   * @param drop frees a batch that the program does not get
   */
  EarlyBatch(Callable<? extends @Nullable Object> maker, Consumer<Object> drop) {
    this.maker = maker;
    this.drop = drop;
  }

  /** Starts preparing the batch; returns false if the job is ending or no thread can be started. */
  boolean begin(Prefetcher prefetcher) {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    try {
      prefetcher.batches().execute(() -> make(prefetcher, loader));
      return true;
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      done.countDown();
      return false;
    }
  }

  private void make(Prefetcher prefetcher, @Nullable ClassLoader loader) {
    Thread.currentThread().setContextClassLoader(loader);
    boolean inside = Producers.enter();
    long span = Spans.enter(SpanKind.PRODUCER, null);
    Object made = null;
    try {
      Callable<? extends @Nullable Object> taken = takeMaker();
      if (inside && taken != null) {
        made = taken.call();
      }
      if (made != null) {
        prefetcher.prepared();
      }
    } catch (Throwable t) {
      Bridge.fault("prefetching a batch", t);
    } finally {
      Spans.exit(span, null);
      Thread.currentThread().setContextClassLoader(null);
      boolean wanted = finish(made);
      if (inside) {
        Producers.exit();
      }
      if (!wanted && made != null) {
        drop.accept(made);
      }
    }
  }

  private synchronized @Nullable Callable<? extends @Nullable Object> takeMaker() {
    Callable<? extends @Nullable Object> taken = discarded ? null : maker;
    maker = null;
    return taken;
  }

  /** Stores the batch; returns false if it was discarded or the agent is switched off. */
  private synchronized boolean finish(@Nullable Object made) {
    boolean wanted = !discarded && !Producers.areOff();
    batch = wanted ? made : null;
    done.countDown();
    return wanted;
  }

  /** Waits until the batch is ready or has failed; returns false on timeout. */
  boolean await(Duration timeout) {
    return done.getCount() == 0 || AgentThread.await(done, timeout);
  }

  /** Returns the batch; null while it is being prepared, or if there is none. */
  synchronized @Nullable Object get() {
    return batch;
  }

  /** Like {@link #get}, but passes the batch to the program, so it is no longer freed here. */
  synchronized @Nullable Object take() {
    Object taken = batch;
    batch = null;
    return taken;
  }

  /** Discards the batch; the program will not get it. */
  void discard() {
    Object made;
    synchronized (this) {
      discarded = true;
      made = batch;
      batch = null;
    }
    if (made != null) {
      drop.accept(made);
    }
  }
}
