package io.coordl.coordination;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Runs the threads of several jobs one at a time. At every access to shared memory, the {@link
 * Plan} may switch threads, or stop or kill a job; two runs of the same plan are equal. A thread
 * that pauses lets all others run until they pause; only then does time pass.
 */
final class Model implements Clock {
  /** In model time; only a hang takes this long. */
  private static final long HANG_NANOS = TimeUnit.SECONDS.toNanos(20);

  private static final ExecutorService POOL =
      Executors.newCachedThreadPool(
          work -> {
            Thread thread = new Thread(work, "model");
            thread.setDaemon(true);
            return thread;
          });

  /** The kind of an {@link Event}, which occurs just before a thread takes a step. */
  enum Action {
    /** The {@code other}th thread after this one runs instead. */
    SWITCH,
    /** This thread's job is stopped for longer than any patience. */
    STOP,
    /** This thread's job dies. */
    KILL
  }

  /** One event of a plan. */
  record Event(Action action, int other) {}

  /** Events by step. */
  record Plan(Map<Integer, Event> events) {}

  /** Ends the threads of a killed job. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1;

    Killed() {
      super("killed", null, false, false);
    }
  }

  static final class Job {
    final long number;
    boolean killed;
    long stoppedUntil = -1;

    Job(long number) {
      this.number = number;
    }
  }

  private static final class Coroutine {
    private final Job job;
    private final Semaphore turn = new Semaphore(0);
    private long wakesAt;
    private boolean ended;

    Coroutine(Job job) {
      this.job = job;
    }
  }

  private final Plan plan;
  private final List<Coroutine> coroutines = new ArrayList<>();
  private final List<Job> jobs = new ArrayList<>();
  private final Semaphore over = new Semaphore(0);
  private Runnable onTime = () -> {};
  private Consumer<Job> onKill = job -> {};
  private Coroutine current;
  private long now = 1;
  private int steps;
  private Throwable failure;

  Model(Plan plan) {
    this.plan = plan;
  }

  /** Runs an action whenever time passes, for heartbeats. */
  void onTime(Runnable action) {
    onTime = action;
  }

  /** Runs an action when a job is killed, to start another. */
  void onKill(Consumer<Job> action) {
    onKill = action;
  }

  Job job() {
    Job job = new Job(jobs.size() + 1);
    jobs.add(job);
    return job;
  }

  List<Job> jobs() {
    return jobs;
  }

  boolean alive(long number) {
    return !jobs.get((int) number - 1).killed;
  }

  boolean stopped(Job job) {
    return now < job.stoppedUntil;
  }

  int steps() {
    return steps;
  }

  /** Stops a job at its next wait, until {@link #resume}. */
  void stop(Job job) {
    job.stoppedUntil = Long.MAX_VALUE;
  }

  /** Lets a stopped job continue. */
  void resume(Job job) {
    job.stoppedUntil = -1;
  }

  /** Waits until the condition holds. */
  void await(BooleanSupplier event) {
    while (!event.getAsBoolean()) {
      pause(1_000_000);
    }
  }

  /** Adds a thread to a job. */
  void start(Job job, Runnable work) {
    Coroutine coroutine = new Coroutine(job);
    coroutines.add(coroutine);
    POOL.execute(
        () -> {
          coroutine.turn.acquireUninterruptibly();
          try {
            work.run();
          } catch (Killed e) {
            // Expected.
          } catch (Throwable t) {
            failure = failure == null ? t : failure;
          }
          coroutine.ended = true;
          next(coroutine, coroutine);
        });
  }

  /** Runs everything to its end. */
  void run() throws Throwable {
    current = coroutines.get(0);
    current.turn.release();
    over.acquire();
    if (failure != null) {
      throw failure;
    }
  }

  /** Called before every access to shared memory. */
  void step() {
    Coroutine me = current;
    if (me.job.killed) {
      throw new Killed();
    }
    Event event = plan.events().get(steps++);
    if (event == null) {
      return;
    }
    switch (event.action()) {
      case KILL -> {
        me.job.killed = true;
        onKill.accept(me.job);
        throw new Killed();
      }
      case STOP -> me.job.stoppedUntil = now + TimeUnit.SECONDS.toNanos(2);
      case SWITCH -> {}
    }
    int at = coroutines.indexOf(me);
    switchTo(me, coroutines.get((at + event.other()) % coroutines.size()));
    if (me.job.killed) {
      throw new Killed();
    }
  }

  @Override
  public long nanos() {
    return now;
  }

  @Override
  public void pause(long nanos) {
    Coroutine me = current;
    if (me.job.killed) {
      throw new Killed();
    }
    me.wakesAt = now + nanos;
    next(me, me);
    if (me.job.killed) {
      throw new Killed();
    }
  }

  private void switchTo(Coroutine from, Coroutine to) {
    next(from, runs(to) ? to : from);
  }

  private boolean runs(Coroutine one) {
    return !one.ended && (one.job.killed || (one.wakesAt <= now && now >= one.job.stoppedUntil));
  }

  /**
   * Passes the turn to {@code wanted} or the first thread after it that can run, then waits for the
   * next turn of {@code from} unless that has ended.
   */
  private void next(Coroutine from, Coroutine wanted) {
    Coroutine to = find(coroutines.indexOf(wanted));
    if (to == null) {
      over.release();
      return;
    }
    if (to != from) {
      current = to;
      to.turn.release();
      if (!from.ended) {
        from.turn.acquireUninterruptibly();
      }
    }
  }

  private Coroutine find(int first) {
    while (true) {
      long soonest = Long.MAX_VALUE;
      for (int i = 0; i < coroutines.size(); i++) {
        Coroutine one = coroutines.get((first + i) % coroutines.size());
        if (runs(one)) {
          return one;
        }
        if (!one.ended) {
          long wakes = one.job.killed ? now : Math.max(one.wakesAt, one.job.stoppedUntil);
          soonest = Math.min(soonest, wakes);
        }
      }
      if (soonest == Long.MAX_VALUE) {
        return null;
      }
      now = Math.max(now, soonest);
      if (now > HANG_NANOS) {
        failure = failure == null ? new AssertionError("hangs") : failure;
        jobs.forEach(job -> job.killed = true);
      }
      onTime.run();
    }
  }
}
