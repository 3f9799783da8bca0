package io.coordl.shared;

import io.coordl.log.UserLog;
import io.coordl.thread.AgentThread;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Opens a shared file that another job keeps locked as soon as that gets on, on a thread of the
 * agent: no caller waits. The thread lives in the topmost thread group, where no program interrupts
 * it; an interrupt would close the channel it works on.
 *
 * @param <M> the memory of its {@link Contents}
 */
public final class LateFile<M extends Contents.Memory> implements Closeable {
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LAST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** A job that runs sets a file up in less. */
  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

  @FunctionalInterface
  public interface Attempt<M extends Contents.Memory> {
    /** The file; null if another job keeps it locked. */
    @Nullable SharedFile<M> open() throws IOException;
  }

  private final String file;
  private final String without;
  private final Attempt<M> attempt;
  private final Consumer<SharedFile<M>> taker;
  private final UserLog log;
  private final Thread thread;
  private boolean closed;

  /**
   * Begins to try.
   *
   * @param file what the user calls it
   * @param without what it costs the user as long as it is not there
   * @param taker takes the file, on the thread
   */
  public LateFile(
      String file, String without, Attempt<M> attempt, Consumer<SharedFile<M>> taker, UserLog log) {
    this.file = file;
    this.without = without;
    this.attempt = attempt;
    this.taker = taker;
    this.log = log;
    thread = new AgentThread("coordl-store", this::run);
    thread.start();
  }

  private void run() {
    try {
      long began = System.nanoTime();
      boolean said = false;
      for (long pause = FIRST_PAUSE_NANOS; !tryOnce(); pause = longer(pause)) {
        LockSupport.parkNanos(this, pause);
        if (!said && System.nanoTime() - began > LONG_NANOS) {
          said = true;
          log.say(
              "Another job sets up or leaves "
                  + file
                  + " and does not get on (is it stopped?): "
                  + without
                  + " until it does.");
        }
      }
      if (said && !isClosed()) {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
        log.say("The other job got on after " + seconds + " s: this one uses " + file + ".");
      }
    } catch (IOException e) {
      log.say(e.getMessage() + " The job runs without it.");
    } catch (RuntimeException | Error e) {
      log.say("Could not open " + file + " (" + e + "): " + without + ".");
    }
  }

  private static long longer(long pause) {
    return Math.min(LAST_PAUSE_NANOS, 2 * pause);
  }

  /** Whether that was the last attempt. */
  private synchronized boolean tryOnce() throws IOException {
    SharedFile<M> opened = closed ? null : attempt.open();
    if (opened != null) {
      taker.accept(opened);
    }
    return closed || opened != null;
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  /** Tries no more; the file is taken by now, or never. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    LockSupport.unpark(thread);
  }

  /** Whether there is another attempt to come. */
  public boolean isTrying() {
    return thread.isAlive();
  }

  /** Waits until the last attempt is made. */
  public void join() throws InterruptedException {
    thread.join();
  }
}
