package io.coordl.host;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A call to storage on a thread of the agent. If storage hangs, only that thread hangs with it. Any
 * thread.
 */
public final class StorageCall<T> {
  private final CountDownLatch done = new CountDownLatch(1);
  private @Nullable T result;
  private @Nullable Throwable failure;

  public StorageCall(Callable<T> call) {
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
  public CountDownLatch done() {
    return done;
  }

  public boolean isDone() {
    return done.getCount() == 0;
  }

  /** The answer; another thread of the agent may wait for it. */
  public @Nullable T get() throws IOException {
    Uninterrupted.await(Long.MAX_VALUE / 2, nanos -> done.await(nanos, TimeUnit.NANOSECONDS));
    if (failure != null) {
      throw failure instanceof IOException e ? e : new IOException(failure);
    }
    return result;
  }

  /**
   * The answer, waited for at most {@code patience}.
   *
   * @throws IOException with a clause for the user, if there is none by then
   */
  @Nullable T get(Duration patience) throws IOException {
    if (!AgentThread.await(done, patience)) {
      throw new IOException("storage has not answered for " + patience.toSeconds() + " s");
    }
    return get();
  }
}
