package io.coordl.coordination;

import io.coordl.host.AgentThread;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The agent thread that accesses shared files for the program's threads and publishes this job's
 * heartbeats. An interrupt closes the channel that the interrupted thread is using, which releases
 * the locks that prove this job alive. Therefore only this thread, which no program can interrupt,
 * performs channel operations that an interrupt would end.
 */
final class HeartbeatThread {
  private static final long BEAT_MILLIS = 200;

  private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
  private final Runnable beat;
  private final Thread thread;
  private volatile boolean stopped;

  /** Starts the thread, which runs {@code beat} several times a second. */
  HeartbeatThread(Runnable beat) {
    this.beat = beat;
    thread = new AgentThread("coordl-prep-heartbeat", this::loop);
    thread.start();
  }

  private void loop() {
    long next = System.nanoTime();
    while (!stopped) {
      long wait = next - System.nanoTime();
      try {
        Runnable work = wait <= 0 ? beat : queue.poll(wait, TimeUnit.NANOSECONDS);
        if (work != null) {
          work.run();
        }
      } catch (RuntimeException | Error | InterruptedException e) {
        // For example, out of memory. Continue, because other threads wait for this one.
      }
      if (wait <= 0) {
        next = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(BEAT_MILLIS);
      }
    }
  }

  /** Runs the work soon; ignores its result or failure. */
  void later(Callable<?> work) {
    queue.add(new FutureTask<>(work));
  }

  /** Runs the work and waits for its result; interrupts do not end the wait and are not lost. */
  <T extends @Nullable Object> T call(Callable<T> work) throws IOException {
    FutureTask<T> result = new FutureTask<>(work);
    if (Thread.currentThread() == thread) {
      result.run();
    } else {
      queue.add(result);
    }
    boolean interrupted = false;
    try {
      while (true) {
        if ((stopped || !thread.isAlive()) && !result.isDone()) {
          throw new IOException("The staging buffer is closed.");
        }
        try {
          return result.get(BEAT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException e) {
          // Check again whether the thread is alive.
        } catch (ExecutionException e) {
          Throwable cause = e.getCause() == null ? e : e.getCause();
          throw cause instanceof IOException failed
              ? failed
              : new IOException(cause.toString(), cause);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Ends the thread after its current work. */
  void stop() {
    stopped = true;
  }
}
