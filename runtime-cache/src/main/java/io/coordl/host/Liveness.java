package io.coordl.host;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Uses fcntl byte-range locks far beyond the end of a shared file to detect which jobs use it: one
 * byte for setting up, joining and leaving, one for the leading job, and one for every job that
 * ever joined. The kernel releases a job's bytes when its last thread is gone, however the job
 * ended. After that, none of its writes is under way, so its claims may be taken over. Pids would
 * not work: they are reused, and differ between containers that share the file.
 *
 * <p>These locks belong to the process, not to the channel: closing <em>any</em> descriptor of the
 * file drops them all. So the file must not be opened twice in one JVM ({@link SharedFile} ensures
 * that) and the channel stays open until the job leaves the file. Nothing here waits in the kernel,
 * and {@code tryLock}, unlike {@code lock}, leaves the channel open when its thread is interrupted.
 *
 * <p>Thread-safe. Only {@link #lockSetup} blocks, for a bounded time.
 */
public final class Liveness implements JobLiveness {
  private static final long SETUP_BYTE = 1L << 60;
  private static final long LEADER_BYTE = SETUP_BYTE - 1;

  public static final long MAX_JOB = (1L << 22) - 1;

  private final FileChannel channel;
  private @Nullable FileLock setup;
  private @Nullable FileLock mine;
  private @Nullable FileLock leader;
  private long job;

  Liveness(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Takes the lock for setting up, joining and leaving; returns false if another process, or a
   * thread of this one, holds it for longer than {@code patience}.
   */
  public boolean lockSetup(Duration patience) throws IOException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (!tryLockSetup()) {
      if (System.nanoTime() - deadline >= 0) {
        return false;
      }
      LockSupport.parkNanos(1_000_000);
    }
    return true;
  }

  private synchronized boolean tryLockSetup() throws IOException {
    if (setup != null) {
      return false;
    }
    setup = tryLock(SETUP_BYTE, 1, false);
    return setup != null;
  }

  public synchronized void unlockSetup() throws IOException {
    setup = release(setup);
  }

  /**
   * Makes this job the leader, which does the work that only one job may do for all; returns false
   * if another job leads. This job then leads until {@link #stopLeading} or until it dies.
   */
  public synchronized boolean tryLead() throws IOException {
    if (leader == null) {
      leader = tryLock(LEADER_BYTE, 1, false);
    }
    return leader != null;
  }

  public synchronized void stopLeading() throws IOException {
    leader = release(leader);
  }

  /**
   * Marks this process as job {@code number} until it dies or leaves; returns false if the number
   * is taken, or if another job is checking it right now.
   */
  synchronized boolean tryJoin(long number) throws IOException {
    mine = tryLock(SETUP_BYTE + number, 1, false);
    job = mine == null ? 0 : number;
    return mine != null;
  }

  synchronized void leave() throws IOException {
    mine = release(mine);
    job = 0;
  }

  private static @Nullable FileLock release(@Nullable FileLock lock) throws IOException {
    if (lock != null) {
      lock.release();
    }
    return null;
  }

  @Override
  public synchronized boolean alive(long number) {
    return number == job || held(number, 1);
  }

  @Override
  public void alone(Runnable action) {
    try {
      if (lockSetup(Duration.ZERO)) {
        try {
          action.run();
        } finally {
          unlockSetup();
        }
      }
    } catch (IOException e) {
      // The caller tries again later.
    }
  }

  /**
   * Whether any job holds the file; call it only before {@link #tryJoin} or after {@link #leave}.
   */
  synchronized boolean anyAlive() {
    return held(1, MAX_JOB);
  }

  /**
   * Counts this job and the other live ones among the newest 4096 numbers up to {@code last}; 0
   * before {@link #tryJoin} and after {@link #leave}.
   */
  public synchronized int count(long last) {
    if (mine == null) {
      return 0;
    }
    int count = 1;
    for (long number = Math.max(1, last - 4095); number <= last; number++) {
      count += number != job && held(number, 1) ? 1 : 0;
    }
    return count;
  }

  /**
   * Whether a job owns any of these numbers. The check uses a shared lock, so that two checks do
   * not mistake each other for the owner.
   */
  private boolean held(long first, long count) {
    try {
      FileLock probe = tryLock(SETUP_BYTE + first, count, true);
      if (probe != null) {
        probe.release();
      }
      return probe == null;
    } catch (IOException e) {
      return true;
    }
  }

  private @Nullable FileLock tryLock(long at, long length, boolean shared) throws IOException {
    try {
      return channel.tryLock(at, length, shared);
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }
}
