package io.coordl.telemetry.recording;

import io.coordl.bridge.FaultListener;
import io.coordl.bridge.IsolatedLoader;
import io.coordl.host.AgentThread;
import io.coordl.telemetry.attribution.EventLog;
import io.coordl.telemetry.event.FaultEvent;
import io.coordl.telemetry.log.UserLog;
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
 * Prints the agent's messages to the user on stderr; faults are also recorded as events. Once the
 * agent is installed, it prints in no other way, except for stack traces with {@code
 * -Dcoordl.debug=true}. Safe for concurrent use; never throws.
 */
public final class AgentLog implements FaultListener, UserLog {
  private final Set<String> logged = ConcurrentHashMap.newKeySet();
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private static final int MAX_WAITING = 100;

  private static final String PRINTER = "coordl-print";

  /**
   * Prints waiting lines on one thread, which ends when there are none; null before the first line.
   */
  private @Nullable ThreadPoolExecutor printer;

  /** When printing of the current line began; null if no line is being printed. */
  private volatile @Nullable Long printing;

  private final AtomicLong faults = new AtomicLong();
  private final LongSupplier clock;

  /** Forwards events to the recording; buffers them until it runs. */
  final EventLog events = new EventLog();

  public AgentLog() {
    this(System::nanoTime);
  }

  /** For tests, whose clock decides whether a line is stuck. */
  AgentLog(LongSupplier clock) {
    this.clock = clock;
  }

  public long faults() {
    return faults.get();
  }

  /**
   * Prints a line, unless it was printed before or about 1,000 different lines have been printed.
   */
  @Override
  public void say(String text) {
    if (logged.size() < 1_000 && logged.add(text)) {
      print("[coordl] " + UserText.line(text), PATIENCE);
    }
  }

  /**
   * Prints lines, in the order of calls. The program may have replaced its standard error with a
   * stream that fails or blocks forever. So the caller waits no longer than {@code patience}, and
   * while a line is stuck, further lines are dropped immediately.
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
                  // This cannot be reported anywhere.
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
      return; // Too many lines are waiting, or no thread can be started.
    }
    if (!isPrinter()) {
      AgentThread.await(printed, patience);
    }
  }

  /** Returns the printer, created on first use, because the agent may never print anything. */
  private synchronized ThreadPoolExecutor printer() {
    ThreadPoolExecutor executor = printer;
    if (executor == null) {
      executor =
          new ThreadPoolExecutor(
              0,
              1,
              0,
              TimeUnit.SECONDS,
              new LinkedBlockingQueue<>(MAX_WAITING),
              task -> new AgentThread(PRINTER, task));
      printer = executor;
    }
    return executor;
  }

  /**
   * Whether the current thread prints the agent's lines. A program may replace standard error with
   * a stream that calls the agent; the call then comes from this thread, and waiting for the
   * printer would be a deadlock.
   */
  private static boolean isPrinter() {
    Thread current = Thread.currentThread();
    return current instanceof AgentThread && current.getName().equals(PRINTER);
  }

  /**
   * Returns the message logged about a policy, without the policy's name; empty if there is none.
   */
  String messageAbout(String policy) {
    return logged.stream()
        .filter(text -> text.startsWith(policy + " "))
        .sorted()
        .findFirst()
        .map(text -> text.substring(policy.length() + 1).replaceFirst("\\.$", ""))
        .orElse("");
  }

  /**
   * Returns true if {@code cause} was thrown because the agent's jar was replaced and a class no
   * longer loads; logs that once. The code that needed the class is not at fault.
   */
  public boolean reportReplacedJar(Throwable cause) {
    File jar =
        AgentLog.class.getClassLoader() instanceof IsolatedLoader loader
                && (cause instanceof LinkageError || cause instanceof ClassNotFoundException)
            ? loader.replacedJar()
            : null;
    if (jar != null) {
      say(
          jar
              + " was replaced while this job was running: parts of the agent that had not been"
              + " loaded yet are unavailable; the program continues");
    }
    return jar != null;
  }

  @Override
  public void fault(String where, Throwable cause, boolean tripped) {
    faults.incrementAndGet();
    String action =
        tripped
            ? "too many faults: the agent is switched off, and the program continues without it"
            : Thread.currentThread() instanceof AgentThread
                ? "the agent's thread skips this operation, and the program continues"
                : "the program's own call runs instead";
    if (!tripped && reportReplacedJar(cause)) {
      return;
    }
    int end = where.indexOf(' ');
    String kind = end < 0 ? where : where.substring(0, end);
    if (tripped || logged.add("fault " + kind + cause.getClass())) {
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
