package io.coordl.checkpoint;

import io.coordl.thread.AgentThread;
import io.coordl.thread.Uninterrupted;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A call to storage on a thread of the agent. If storage hangs, only that thread hangs with it. Any
 * thread.
 */
final class StorageCall<T> {
  private final CountDownLatch done = new CountDownLatch(1);
  private @Nullable T result;
  private @Nullable Throwable failure;

  StorageCall(Callable<T> call) {
    new AgentThread("coordl-checkpoint", () -> run(call)).start();
  }

  private void run(Callable<T> call) {
    try {
      result = call.call();
    } catch (Throwable t) {
      failure = t;
    } finally {
      done.countDown();
    }
  }

  /** Open until storage has answered. */
  CountDownLatch done() {
    return done;
  }

  boolean isDone() {
    return done.getCount() == 0;
  }

  /** The answer; another thread of the agent may wait for it. */
  @Nullable T get() throws IOException {
    Uninterrupted.await(Long.MAX_VALUE / 2, nanos -> done.await(nanos, TimeUnit.NANOSECONDS));
    if (failure != null) {
      throw failure instanceof IOException e ? e : new IOException(failure);
    }
    return result;
  }
}
