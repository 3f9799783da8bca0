package io.coordl.host;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A storage call on an agent thread. If storage hangs, only that thread hangs. Thread-safe. */
public final class StorageCall<T> {
  private final CountDownLatch done = new CountDownLatch(1);
  private @Nullable T result;
  private @Nullable Throwable failure;

  public StorageCall(Callable<T> call) {
    new AgentThread("coordl-storage", () -> run(call)).start();
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

  /** Returns a latch that opens when storage has answered. */
  public CountDownLatch done() {
    return done;
  }

  public boolean isDone() {
    return done.getCount() == 0;
  }

  /**
   * Returns the result. Waits for it without a timeout, so only agent threads may call this before
   * {@link #isDone}.
   */
  public @Nullable T get() throws IOException {
    Uninterrupted.await(Long.MAX_VALUE / 2, nanos -> done.await(nanos, TimeUnit.NANOSECONDS));
    if (failure != null) {
      throw failure instanceof IOException e ? e : new IOException(failure);
    }
    return result;
  }

  /**
   * Returns the result; waits at most {@code patience} for it.
   *
   * @throws IOException if the call failed or, with a message for the user, if the time is up
   */
  @Nullable T get(Duration patience) throws IOException {
    if (!AgentThread.await(done, patience)) {
      throw new IOException("storage has not answered for " + patience.toSeconds() + " s");
    }
    return get();
  }
}
