package io.coordl.host;

import io.coordl.telemetry.log.UserLog;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Opens a shared file once another job has unlocked it. An agent thread tries at intervals of up to
 * a second, so no caller waits. The thread belongs to the root thread group, where no program
 * interrupts it; an interrupt would close the file's channel.
 */
public final class LateFile implements Closeable {
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LAST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** A job that is not suspended sets up a file in less time. */
  private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

  @FunctionalInterface
  public interface Attempt {
    /** Opens and uses the file; returns false if another job keeps it locked. */
    boolean tryOpen() throws IOException;
  }

  private final String file;
  private final String without;
  private final Attempt attempt;
  private final UserLog log;
  private final Thread thread;
  private volatile boolean closed;

  /**
   * Starts trying.
   *
   * @param file name of the file for the user
   * @param without clause of a message that says what the job lacks until the file is open
   */
  public LateFile(String file, String without, Attempt attempt, UserLog log) {
    this.file = file;
    this.without = without;
    this.attempt = attempt;
    this.log = log;
    thread = new AgentThread("coordl-store", this::run);
    thread.start();
  }

  private void run() {
    try {
      long began = System.nanoTime();
      boolean logged = false;
      for (long pause = FIRST_PAUSE_NANOS; !tryOnce(); ) {
        LockSupport.parkNanos(this, pause);
        pause = Math.min(LAST_PAUSE_NANOS, 2 * pause);
        if (!logged && System.nanoTime() - began > LONG_NANOS) {
          logged = true;
          log.say(
              "Another job is setting up or leaving %s but makes no progress (is it stopped?): %s"
                  + " until it does.",
              file, without);
        }
      }
      if (logged && !closed) {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
        log.say("The other job finished after " + seconds + " s: this one uses " + file + ".");
      }
    } catch (IOException e) {
      log.say(e.getMessage() + " The job runs without it.");
    } catch (RuntimeException | Error e) {
      log.say("Could not open " + file + " (" + e + "): " + without + ".");
    }
  }

  /** Makes an attempt, unless closed; returns whether no further attempt is needed. */
  private synchronized boolean tryOnce() throws IOException {
    return closed || attempt.tryOpen();
  }

  /** Stops trying; if the file is not open now, it will not be opened. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    LockSupport.unpark(thread);
  }

  public boolean isTrying() {
    return thread.isAlive();
  }

  public void join() throws InterruptedException {
    thread.join();
  }
}
