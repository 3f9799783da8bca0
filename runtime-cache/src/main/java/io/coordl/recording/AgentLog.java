package io.coordl.recording;

import io.coordl.attribution.EventLog;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.IsolatedLoader;
import io.coordl.event.FaultEvent;
import io.coordl.log.UserLog;
import io.coordl.thread.AgentThread;
import java.io.File;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the agent tells the user while the program runs: one line on stderr each, and one event.
 * Nothing else of the agent prints, once it is installed. Safe for concurrent use; never throws.
 */
public final class AgentLog implements FaultListener, UserLog {
  private final Set<String> told = ConcurrentHashMap.newKeySet();
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private static final int MOST_WAITING = 100;

  private static final String PRINTER = "coordl-print";

  /** A thread for the lines that wait, which ends when none does; null before the first line. */
  private @Nullable ThreadPoolExecutor printer;

  /** When the line that is being printed was begun; null if none is. */
  private volatile @Nullable Long printing;

  private final AtomicLong faults = new AtomicLong();
  private final LongSupplier clock;

  /** The way of events into the recording, from before there is one. */
  final EventLog events = new EventLog();

  public AgentLog() {
    this(System::nanoTime);
  }

  /** For tests: whether a line is stuck is told by a clock of their own. */
  AgentLog(LongSupplier clock) {
    this.clock = clock;
  }

  public long faults() {
    return faults.get();
  }

  /** One line, each text once. */
  @Override
  public void say(String text) {
    if (told.size() < 1_000 && told.add(text)) {
      print("[coordl] " + UserText.line(text), PATIENCE);
    }
  }

  /**
   * Prints lines, the only way to do so, in the order in which they come. What the program has made
   * of its standard error may fail, or block for ever: the caller waits no longer than {@code
   * patience}, and behind a line that is stuck nobody waits for another, which is lost.
   */
  public void print(String lines, Duration patience) {
    Long begun = printing;
    if (begun != null && clock.getAsLong() - begun >= PATIENCE.toNanos()) {
      return;
    }
    CountDownLatch printed = new CountDownLatch(1);
    try {
      printer()
          .execute(
              () -> {
                try {
                  printing = clock.getAsLong();
                  System.err.println(lines);
                } catch (RuntimeException | Error e) {
                  // There is nobody to tell.
                } finally {
                  printing = null;
                  printed.countDown();
                }
              });
    } catch (SecurityException e) {
      // A security manager does not let our caller, the program, create threads.
      System.err.println(lines);
      return;
    } catch (OutOfMemoryError | RuntimeException e) {
      return; // No more threads, or the program forbids them.
    }
    if (!isPrinter()) {
      AgentThread.await(printed, patience);
    }
  }

  /** Not before it is needed: a program that trains nothing is told nothing. */
  private synchronized ThreadPoolExecutor printer() {
    ThreadPoolExecutor made = printer;
    if (made == null) {
      made =
          new ThreadPoolExecutor(
              0,
              1,
              0,
              TimeUnit.SECONDS,
              new LinkedBlockingQueue<>(MOST_WAITING),
              lines -> new AgentThread(PRINTER, lines));
      printer = made;
    }
    return made;
  }

  /**
   * The program's own standard error may be what calls: its line comes behind the one it prints.
   */
  private static boolean isPrinter() {
    Thread current = Thread.currentThread();
    return current instanceof AgentThread && current.getName().equals(PRINTER);
  }

  /** What was said of a policy, without its name; empty if nothing was. */
  String saidOf(String policy) {
    return told.stream()
        .filter(text -> text.startsWith(policy + " "))
        .sorted()
        .findFirst()
        .map(text -> text.substring(policy.length() + 1).replaceFirst("\\.$", ""))
        .orElse("");
  }

  /**
   * Whether classes no longer load because the agent's jar was replaced: one failure, not the fault
   * of the parts that hit it, and logged once.
   */
  public boolean isOfReplacedJar(Throwable cause) {
    File jar =
        AgentLog.class.getClassLoader() instanceof IsolatedLoader loader
                && (cause instanceof LinkageError || cause instanceof ClassNotFoundException)
            ? loader.replacedJar()
            : null;
    if (jar != null) {
      say(
          jar
              + " was replaced while this job runs: what the agent had not loaded by then is"
              + " missing, and is left out; the program continues");
    }
    return jar != null;
  }

  @Override
  public void fault(String where, Throwable cause, boolean tripped) {
    faults.incrementAndGet();
    String action =
        tripped
            ? "too many faults: the agent is switched off, the program continues without it"
            : Thread.currentThread() instanceof AgentThread
                ? "this thread of the agent leaves that out, the program continues"
                : "the program's own call is made instead";
    if (!tripped && isOfReplacedJar(cause)) {
      return;
    }
    int end = where.indexOf(' ');
    String kind = end < 0 ? where : where.substring(0, end);
    if (tripped || told.add("fault " + kind + cause.getClass())) {
      print(
          "[coordl] " + UserText.line("fault in " + where + ": " + cause + "; " + action),
          PATIENCE);
      if (Boolean.getBoolean("coordl.debug")) {
        cause.printStackTrace();
      }
    }
    FaultEvent event = new FaultEvent();
    event.where = UserText.line(where);
    event.cause = UserText.line(cause.toString());
    event.action = action;
    events.write(event);
  }
}
