package io.coordl.pipeline;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.Producers;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.thread.AgentThread;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One batch that the program's own code makes on the prefetcher's thread, before the program asks
 * for it. Either the program gets it, or it is discarded and then freed exactly once. Thread-safe.
 */
public final class EarlyBatch {
  /** How long the program waits for the batch: code that hangs here would hang in its own call. */
  public static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Null from when it runs on: it may hold the program's data set. */
  private @Nullable Callable<? extends @Nullable Object> maker;

  private final Consumer<Object> drop;
  private final CountDownLatch done = new CountDownLatch(1);
  private @Nullable Object batch;
  private boolean discarded;

  /**
   * A batch that is not begun.
   *
   * @param maker runs the program's code; returns null, or throws, if there is no batch
   * @param drop frees a batch that the program does not get
   */
  public EarlyBatch(Callable<? extends @Nullable Object> maker, Consumer<Object> drop) {
    this.maker = maker;
    this.drop = drop;
  }

  /** Begins; false if it never will, since the job ends or no thread can be started. */
  public boolean begin(Prefetcher prefetcher) {
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
      Callable<? extends @Nullable Object> wanted = takeMaker();
      if (inside && wanted != null) {
        made = wanted.call();
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
    Callable<? extends @Nullable Object> wanted = discarded ? null : maker;
    maker = null;
    return wanted;
  }

  /** False if nobody will get the batch. */
  private synchronized boolean finish(@Nullable Object made) {
    boolean wanted = !discarded && !Producers.areOff();
    batch = wanted ? made : null;
    done.countDown();
    return wanted;
  }

  /** Waits until it is made, or is known not to be; false if that takes longer than this. */
  public boolean await(Duration longest) {
    return done.getCount() == 0 || AgentThread.await(done, longest);
  }

  /** The batch; null while it is not made, and if there is none. */
  public synchronized @Nullable Object get() {
    return batch;
  }

  /** The program does not get it. */
  public void discard() {
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
