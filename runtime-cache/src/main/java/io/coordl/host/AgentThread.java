package io.coordl.host;

import io.coordl.bridge.Bridge;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A daemon thread, the only kind that the agent starts. An exception that ends it is a fault, and
 * never reaches the program's uncaught exception handler. An interrupt would close the channel that
 * the thread uses and turn every wait into a busy loop, so two rules protect it from the program:
 *
 * <ul>
 *   <li>It belongs to the topmost thread group, and inherits neither the context class loader nor
 *       thread locals. Code that interrupts, joins or destroys the program's thread group, as
 *       {@code mvn exec:java} does at its end, does not reach it.
 *   <li>Only agent threads can interrupt it, which is how JGroups and thread pools stop theirs.
 * </ul>
 */
public final class AgentThread extends Thread {
  private static final Duration PAUSE = Duration.ofMillis(200);

  /** Failure types that this thread has reported; confined to it. */
  private final Set<Class<?>> reportedTypes = new HashSet<>();

  public AgentThread(String name, Runnable work) {
    this(name, work, 0);
  }

  /** Creates a thread with a stack of about {@code stackBytes} bytes; 0 for the JVM's default. */
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

  /** Does nothing unless an agent thread calls it. */
  @Override
  public void interrupt() {
    if (Thread.currentThread() instanceof AgentThread) {
      super.interrupt();
    }
  }

  /**
   * Waits up to {@code patience} for the latch; returns whether it opened. Preserves the caller's
   * interrupt flag.
   */
  public static boolean await(CountDownLatch latch, Duration patience) {
    return Uninterrupted.await(
        patience.toNanos(), nanos -> latch.await(nanos, TimeUnit.NANOSECONDS));
  }

  /**
   * Lets an agent thread continue after one round of its loop has failed: reports each failure type
   * as a fault once, and pauses before the next round.
   */
  public static void survive(Throwable failure) {
    AgentThread self = (AgentThread) Thread.currentThread();
    try {
      if (self.reportedTypes.add(failure.getClass())) {
        Bridge.fault(self.getName(), failure);
      }
    } catch (OutOfMemoryError e) {
      // No memory is left to report it.
    }
    LockSupport.parkNanos(self, PAUSE.toNanos());
  }
}
