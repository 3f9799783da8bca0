package io.coordl.thread;

import io.coordl.bridge.Bridge;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A daemon thread of the agent: the only kind that it starts. What it dies of is a fault, and never
 * reaches the program's handler of uncaught exceptions. Two things keep the program's hands off it,
 * since an interrupt would close the channel that it works on, and make a busy loop of every wait:
 *
 * <ul>
 *   <li>It stands in the topmost thread group, and inherits neither context class loader nor thread
 *       locals. Whoever interrupts, joins or destroys a program's thread group, as {@code mvn
 *       exec:java} does at its end, does not meet it.
 *   <li>Only threads of the agent can interrupt it: JGroups and thread pools stop theirs so.
 * </ul>
 */
public final class AgentThread extends Thread {
  private static final Duration PAUSE = Duration.ofMillis(200);

  /** Kinds of failures that it has had; of this thread alone. */
  private final Set<Class<?>> survived = new HashSet<>();

  public AgentThread(String name, Runnable work) {
    this(name, work, 0);
  }

  /** As above, with a stack of about so many bytes; 0 for the JVM's choice. */
  public AgentThread(String name, Runnable work, long stackBytes) {
    super(topmost(), work, name, stackBytes, false);
    setDaemon(true);
    setContextClassLoader(null);
    setUncaughtExceptionHandler((self, failure) -> Bridge.fault(self.getName(), failure));
  }

  private static ThreadGroup topmost() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    return group;
  }

  /** Does nothing unless a thread of the agent calls it. */
  @Override
  public void interrupt() {
    if (Thread.currentThread() instanceof AgentThread) {
      super.interrupt();
    }
  }

  /** Waits for so long; true if it is open by then. An interrupt is kept for the caller. */
  public static boolean await(CountDownLatch latch, Duration patience) {
    return Uninterrupted.await(
        patience.toNanos(), nanos -> latch.await(nanos, TimeUnit.NANOSECONDS));
  }

  /**
   * For a thread of the agent that has to go on, after one round of its loop has failed: each kind
   * of failure is a fault once, and the next round comes a little later.
   */
  public static void survive(Throwable failure) {
    AgentThread self = (AgentThread) Thread.currentThread();
    try {
      if (self.survived.add(failure.getClass())) {
        Bridge.fault(self.getName(), failure);
      }
    } catch (OutOfMemoryError e) {
      // Nobody can be told, now.
    }
    LockSupport.parkNanos(self, PAUSE.toNanos());
  }
}
