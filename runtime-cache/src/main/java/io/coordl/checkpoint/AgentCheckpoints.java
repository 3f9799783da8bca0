package io.coordl.checkpoint;

import io.coordl.advice.Text;
import io.coordl.log.OnceLog;
import io.coordl.log.UserLog;
import io.coordl.thread.Uninterrupted;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The policy {@code checkpoint.every=}: checkpoints of the agent's own, between those of the
 * program, taken by the thread that trains when a step has ended. One is never begun while another
 * file is being written, so that nobody waits for a disk. Safe for concurrent use.
 */
public final class AgentCheckpoints {
  /** Saves a model by the library's own code, as the program would. */
  @FunctionalInterface
  public interface Saver {
    /** Into this directory, which is new. */
    void save(Path directory) throws IOException;

    /** What the model's file lacks: the adapter alone reads it, with {@code resume=}. */
    default void state(DataOutputStream out) throws IOException {}
  }

  /** Networks that are trained against each other are two. */
  private static final int MODELS = 4;

  /** Steps of other models after which one is no longer trained. */
  private static final int IDLE = 1000;

  /** A step that takes so many times as long as the longest of late is none: nothing is trained. */
  private static final int SLOWER = 10;

  /** After its last step, a model is taken for one in training so long: the host may be busy. */
  private static final long LEAST = TimeUnit.SECONDS.toNanos(5);

  /** Between two looks at whether the thread that trains is still alive. */
  private static final long LOOK = TimeUnit.MILLISECONDS.toNanos(50);

  private final String root;
  private final String every;
  private final double overhead;
  private final int keep;
  private final int grace;
  private final ModelFiles files;
  private final OnceLog log;

  private final List<Trained> models = new ArrayList<>();
  private CheckpointDirectory.@Nullable Claim claim;
  private boolean closed;
  private String why = "no step of a model of DJL, or of a network of DL4J, has ended";
  private volatile boolean ending;
  private long turns;
  private final AtomicInteger tried = new AtomicInteger();
  private final AtomicInteger written = new AtomicInteger();
  private final LongAdder waited = new LongAdder();

  /**
   * A policy.
   *
   * @param root where checkpoints go, a directory for each model below it
   * @param every {@code auto}, {@code continuous}, or a number of steps
   * @param overhead share of the time that {@code auto} may take
   * @param keep how many checkpoints of a model stay
   * @param grace seconds that the last one may take when the job is told to end
   */
  public AgentCheckpoints(
      String root,
      String every,
      double overhead,
      int keep,
      int grace,
      ModelFiles files,
      UserLog log) {
    this.root = root;
    this.every = every;
    this.overhead = overhead;
    this.keep = keep;
    this.grace = grace;
    this.files = files;
    this.log = new OnceLog(log);
  }

  private Cadence cadence() {
    return switch (every) {
      case "auto" -> Cadence.within(overhead);
      case "continuous" -> Cadence.every(1);
      default -> Cadence.every(Long.parseLong(every));
    };
  }

  /** A model, weakly held, and its steps. */
  private final class Trained {
    private final WeakReference<Object> model;
    private final CheckpointDirectory directory;
    private final Cadence steps = cadence();
    private final CountDownLatch last = new CountDownLatch(1);
    private @Nullable Path newest;
    private volatile Thread trainer = Thread.currentThread();
    private volatile long ended;

    /** When its last step was, counted in steps of all models. */
    private long turn;

    Trained(Object model, CheckpointDirectory directory) {
      this.model = new WeakReference<>(model);
      this.directory = directory;
    }

    synchronized void step(Saver saver) {
      boolean end = ending;
      long now = System.nanoTime();
      boolean writing = files.isWriting();
      trainer = Thread.currentThread();
      if (ended != 0) {
        steps.step(now - ended, writing);
      }
      ended = now;
      if (last.getCount() == 0 || !(end || (steps.isDue() && !writing))) {
        return;
      }
      boolean taken = take(saver);
      ended = System.nanoTime();
      if (taken) {
        steps.taken(ended - now);
        tried.incrementAndGet();
        waited.add(ended - now);
      } else {
        steps.failed();
      }
      if (end) {
        last.countDown();
      }
    }

    private boolean take(Saver saver) {
      try {
        Path before = newest;
        if (before != null && !files.isWriting()) {
          directory.discardUnlessWhole(before);
        }
        Path made = directory.next();
        newest = made;
        ModelFiles.Pending writing = files.asAgent(saver, made);
        if (writing != null) {
          writing.then(this::written);
        } else if (SideFile.isWhole(made)) {
          written();
        } else {
          throw new IOException("no file can be written whole in " + made);
        }
        return true;
      } catch (IOException | RuntimeException | OutOfMemoryError e) {
        log.once(
            "take",
            "checkpoint.every: a checkpoint could not be taken ("
                + e
                + "); the job goes on, and the next is tried when it is due.");
        return false;
      }
    }

    private void written() {
      if (!directory.retain(keep)) {
        log.once(
            "link", "checkpoint.every: no link latest can be made in " + root + "; numbers count.");
      }
      written.incrementAndGet();
    }

    /** How long its next step may be waited for: not at all if it is not being trained. */
    long patience() {
      return ended + Math.max(LEAST, SLOWER * steps.longest()) - System.nanoTime();
    }

    boolean isOver() {
      return !trainer.isAlive() || model.get() == null || isExiting();
    }

    /** Whether it waits in {@link System#exit} for the end that has begun. */
    private boolean isExiting() {
      return Arrays.stream(trainer.getStackTrace())
          .anyMatch(frame -> frame.getClassName().equals("java.lang.Shutdown"));
    }
  }

  /** A step has ended, and with it the update of the weights. Never fails. */
  public void stepped(Object model, String name, Saver saver) {
    Trained trained = trained(model, name);
    if (trained != null) {
      trained.step(saver);
    }
  }

  private synchronized @Nullable Trained trained(Object model, String name) {
    turns++;
    Trained trained = null;
    for (Trained known : models) {
      trained = known.model.get() == model ? known : trained;
    }
    if (trained == null && !closed) {
      trained = add(model, name);
    }
    if (trained != null) {
      trained.turn = turns;
    }
    return trained;
  }

  private @Nullable Trained add(Object model, String name) {
    models.removeIf(this::isOld);
    if (models.size() == MODELS) {
      log.once(
          "models",
          Text.format(
              "checkpoint.every: the agent takes checkpoints of %s models at a time, not of more.",
              MODELS));
      return null;
    }
    try {
      if (claim == null) {
        claim = CheckpointDirectory.claim(ModelFiles.path(new File(root)));
      }
      Trained made = new Trained(model, claim.directory(name));
      models.add(made);
      return made;
    } catch (IOException | RuntimeException e) {
      closed = true;
      why = "no checkpoint can be taken in " + root + " (" + e + ")";
      log.say("checkpoint.every: " + why + "; the job goes on without.");
      return null;
    }
  }

  /** One that is no longer trained gives its place, and the name of its directory, to another. */
  private boolean isOld(Trained known) {
    boolean old = known.model.get() == null || turns - known.turn > IDLE;
    if (old && claim != null) {
      claim.release(known.directory);
    }
    return old;
  }

  /**
   * The JVM ends. Where it has been told to, by {@code SIGTERM}: takes a last checkpoint of each
   * model in training as soon as its step has ended, and waits for that, at most as long as steps
   * take and as the grace period allows. Else a checkpoint that is being written is given up.
   */
  public void end() {
    if (!isTerminated()) {
      files.giveUpAgents();
      return;
    }
    List<Trained> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(models);
    }
    ending = true;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(grace);
    for (Trained trained : all) {
      long patience = Math.min(deadline - System.nanoTime(), trained.patience());
      boolean over =
          Uninterrupted.await(
              patience,
              nanos ->
                  trained.last.await(Math.min(nanos, LOOK), TimeUnit.NANOSECONDS)
                      || trained.isOver());
      if (!over && patience > 0) {
        log.say(
            "checkpoint.every: no step ended in time for a last checkpoint; the newest in %s"
                + " stays.",
            root);
      }
    }
    files.awaitAgents(deadline - System.nanoTime());
  }

  /** The JDK runs shutdown hooks for a signal from a thread of this name, and for nothing else. */
  private static boolean isTerminated() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("SIGTERM handler"));
  }

  /** For the summary; empty if none was taken. */
  public synchronized String said() {
    int made = written.get();
    return tried.get() == 0
        ? ""
        : Text.format(
            "checkpoint.every=%s: %d checkpoint%s of the agent's own in %s (the job waited %.3f s"
                + " for each%s)",
            every, made, made == 1 ? "" : "s", root, waited.sum() / 1e9 / tried.get(), intervals());
  }

  private String intervals() {
    return models.stream()
        .map(trained -> trained.steps.interval())
        .map(steps -> steps == 1 ? "" : ", one in " + steps + " steps at last")
        .findFirst()
        .orElse("");
  }

  /** Why it did nothing, empty if it did something. */
  public synchronized String whyUnused() {
    return tried.get() > 0 ? "" : models.isEmpty() ? why : "the job ended before the first was due";
  }
}
