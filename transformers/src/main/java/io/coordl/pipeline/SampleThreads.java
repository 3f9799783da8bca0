package io.coordl.pipeline;

import io.coordl.bridge.Producers;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.host.Uninterrupted;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs one task per sample of a batch, on the calling thread and on helpers. The calling thread
 * takes samples, too, so the work ends even if no helper ever starts.
 */
public final class SampleThreads {
  /** The task for one sample, by its place in the batch; called concurrently. */
  public interface Work {
    void run(int place) throws Exception;
  }

  private final int count;
  private final Work work;
  private final AtomicInteger next = new AtomicInteger();

  /** The calling thread's listener and class loader; the helpers take them over. */
  private final @Nullable Consumer<String> listener = Producers.listener();

  private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader();

  private int helping;
  private boolean closed;
  private @Nullable Throwable failure;

  /** See {@link #run}. */
  SampleThreads(int count, Work work) {
    this.count = count;
    this.work = work;
  }

  /**
   * Runs the tasks; returns when all are done, or when one has failed and no thread is working.
   *
   * @param count number of samples
   * @param helpers maximum number of threads besides this one
   * @throws TimeoutException if a helper hangs; it may still be using the sample
   * @throws Exception the exception of the first task that failed
   */
  public static void run(int count, int helpers, Executor threads, Work work) throws Exception {
    SampleThreads run = new SampleThreads(count, work);
    for (int i = Math.min(helpers, count - 1); i > 0; i--) {
      try {
        threads.execute(run::help);
      } catch (RejectedExecutionException | OutOfMemoryError e) {
        break; // The job is ending, or no thread can be started.
      }
    }
    run.takeAll();
    run.close();
    if (run.failure instanceof Error error) {
      throw error;
    } else if (run.failure instanceof Exception exception) {
      throw exception;
    }
  }

  private void help() {
    if (!begin()) {
      return;
    }
    Thread self = Thread.currentThread();
    try {
      if (Producers.enter()) {
        long span = Spans.enter(SpanKind.PRODUCER, null);
        try {
          self.setContextClassLoader(loader);
          Producers.listen(listener);
          takeAll();
        } finally {
          Producers.listen(null);
          self.setContextClassLoader(null);
          Spans.exit(span, null);
          Producers.exit();
        }
      }
    } finally {
      end();
    }
  }

  /** Takes samples until none is left or one fails; locks nothing unless one fails. */
  void takeAll() {
    int place;
    while ((place = next.getAndIncrement()) < count) {
      try {
        work.run(place);
      } catch (Throwable t) {
        next.set(count);
        fail(t);
        return;
      }
    }
  }

  private synchronized boolean begin() {
    if (!closed) {
      helping++;
    }
    return !closed;
  }

  private synchronized void end() {
    helping--;
    notifyAll();
  }

  private synchronized void fail(Throwable t) {
    if (failure == null) {
      failure = t;
    }
  }

  /** Prevents further helpers from starting, and waits for the running ones. */
  private void close() throws TimeoutException {
    synchronized (this) {
      closed = true;
    }
    if (!Uninterrupted.await(EarlyBatch.PATIENCE.toNanos(), this::awaitIdle)) {
      throw new TimeoutException("a thread hangs in the program's code");
    }
  }

  /** Waits at most {@code nanos} until no helper runs; returns false on timeout. */
  private synchronized boolean awaitIdle(long nanos) throws InterruptedException {
    long until = System.nanoTime() + nanos;
    long left;
    while (helping > 0 && (left = until - System.nanoTime()) > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    return helping == 0;
  }
}
