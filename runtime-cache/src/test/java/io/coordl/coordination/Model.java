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
 * Jobs on threads of which one runs at a time, and which may change, or a job be stopped or killed,
 * at every access to shared memory: so a run is decided by its {@link Plan}. A thread that pauses
 * lets all others run until they pause, too; only then time passes.
 */
final class Model implements Clock {
  /** Of the model's time; only a hang takes so long. */
  private static final long HANG_NANOS = TimeUnit.SECONDS.toNanos(20);

  private static final ExecutorService POOL =
      Executors.newCachedThreadPool(
          work -> {
            Thread thread = new Thread(work, "model");
            thread.setDaemon(true);
            return thread;
          });

  /** What happens to the thread that is about to do a step. */
  enum What {
    /** Another one runs on: the {@code other}th after it. */
    SWITCH,
    /** Its job is stopped for longer than anybody has patience. */
    STOP,
    /** Its job dies. */
    KILL
  }

  /** One event of a plan. */
  record Event(What what, int other) {}

  /** What happens at which step. */
  record Plan(Map<Integer, Event> events) {}

  /** How a job's threads end when it was killed. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1;

    Killed() {
      super("killed", null, false, false);
    }
  }

  /** A job. */
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

  /** Run whenever time passes: signs of life. */
  void onTime(Runnable action) {
    onTime = action;
  }

  /** Run when a job was killed: another may be started. */
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

  /** Stops a job, from its next wait on, until {@link #goesOn}. */
  void stops(Job job) {
    job.stoppedUntil = Long.MAX_VALUE;
  }

  /** Lets it go on. */
  void goesOn(Job job) {
    job.stoppedUntil = -1;
  }

  /** Waits until something has happened. */
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
            // As it should.
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
    switch (event.what()) {
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

  /** Gives the turn to {@code wanted}, or the first after it that can run; waits for it again. */
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
