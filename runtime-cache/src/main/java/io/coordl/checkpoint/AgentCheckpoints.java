package io.coordl.checkpoint;

import io.coordl.host.StorageCall;
import io.coordl.host.Uninterrupted;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.log.OnceLog;
import io.coordl.telemetry.log.UserLog;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The policy {@code checkpoint.every=}: the agent's own checkpoints, in addition to those of the
 * program. The training thread takes them when a step has ended. Until the job ends, none is
 * started while another file is being written, because the training thread would wait for that
 * file. Safe for concurrent use.
 */
public final class AgentCheckpoints {
  /** Saves a model with the library's own code, as the program would. */
  @FunctionalInterface
  public interface Saver {
    /** Saves the model into this new directory. */
    void save(Path directory) throws IOException;

    /** Writes state that the model's file lacks; only the adapter reads it, for {@code resume=}. */
    default void state(DataOutputStream out) throws IOException {}
  }

  /** Maximum number of models at a time; adversarial training uses two. */
  private static final int MAX_MODELS = 4;

  /** Steps of other models after which a model is no longer considered in training. */
  private static final int IDLE_STEPS = 1000;

  /** If a step takes this many times as long as the longest recent one, training has paused. */
  private static final int PAUSED_FACTOR = 10;

  /**
   * A model is considered in training for at least this long after its last step, because the host
   * may be busy.
   */
  private static final long MIN_TRAINING_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Interval between checks of whether the training thread is still alive. */
  private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final String root;
  private final String every;
  private final double overhead;
  private final int keep;
  private final int grace;
  private final ModelFiles files;
  private final OnceLog log;

  private final Supplier<@Nullable Path> resumed;

  // Storage may hang, so no thread accesses it while holding the monitor.
  private final List<Trained> models = new CopyOnWriteArrayList<>();
  private final Set<String> names = new HashSet<>();
  private @Nullable StorageCall<CheckpointDirectory.Claim> claim;
  private boolean closed;
  private String unusedReason = "no training step of a model known to the agent has ended";
  private volatile boolean ending;
  private volatile String run;
  private long turns;
  private final AtomicInteger tried = new AtomicInteger();
  private volatile boolean failed;
  private final AtomicInteger written = new AtomicInteger();
  private final LongAdder waited = new LongAdder();

  /**
   * Creates the policy.
   *
   * @param root directory of checkpoints, with a subdirectory for each model
   * @param every {@code auto}, {@code continuous}, or a number of steps
   * @param overhead share of the time that {@code auto} may take
   * @param keep number of checkpoints to keep per model
   * @param grace seconds that the last checkpoint may take after SIGTERM
   * @param resumed the checkpoint that the job continues from, null if none; called when the first
   *     step has ended
   */
  public AgentCheckpoints(
      String root,
      String every,
      double overhead,
      int keep,
      int grace,
      Supplier<@Nullable Path> resumed,
      ModelFiles files,
      UserLog log) {
    this.root = root;
    this.run = root;
    this.resumed = resumed;
    this.every = every;
    this.overhead = overhead;
    this.keep = keep;
    this.grace = grace;
    this.files = files;
    this.log = new OnceLog(log);
    files.rememberLoads();
  }

  private Cadence cadence() {
    return switch (every) {
      case "auto" -> Cadence.within(() -> overhead / Math.max(1, models.size()));
      case "continuous" -> Cadence.every(1);
      default -> Cadence.every(Long.parseLong(every));
    };
  }

  /** A model, weakly held, and its steps. */
  private final class Trained {
    private final WeakReference<Object> model;
    private final String name;
    private final StorageCall<CheckpointDirectory.Claim> claimed;
    private final Cadence steps = cadence();
    private final CountDownLatch last = new CountDownLatch(1);
    private volatile @Nullable CheckpointDirectory directory;
    private @Nullable StorageCall<Path> preparing;

    /** Directory of a checkpoint that was started and is incomplete. */
    private volatile @Nullable Path begun;

    private volatile Thread trainer = Thread.currentThread();
    private volatile long ended;

    /** Number of steps of all models at the last step of this one. */
    private long turn;

    Trained(Object model, String name, StorageCall<CheckpointDirectory.Claim> claimed) {
      this.model = new WeakReference<>(model);
      this.name = name;
      this.claimed = claimed;
    }

    synchronized void step(Saver saver) {
      boolean end = ending;
      long now = System.nanoTime();
      boolean writing = files.isWriting();
      trainer = Thread.currentThread();
      if (ended == 0) {
        steps.firstStep();
      } else {
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
        steps.failed(ended - now);
        failed = true;
      }
      if (end) {
        last.countDown();
      }
    }

    private boolean take(Saver saver) {
      try {
        Path target = nextDirectory();
        if (target == null) {
          return false;
        }
        begun = target;
        ModelFiles.Pending writing = files.asAgent(saver, target);
        if (writing != null) {
          writing.then(this::written);
        } else if (SideFile.hasCompleteModel(target)) {
          written();
        } else {
          throw new IOException("no file can be written whole in " + target);
        }
        return true;
      } catch (IOException | RuntimeException | OutOfMemoryError e) {
        log.once(
            "take",
            "checkpoint.every: a checkpoint could not be taken ("
                + e
                + "); the job continues, and the agent tries again when the next one is due.");
        return false;
      }
    }

    /**
     * Returns a new directory for the next checkpoint; null if the directory of the run could not
     * be claimed, or if storage does not answer.
     */
    private @Nullable Path nextDirectory() throws IOException {
      StorageCall<Path> call = preparing;
      if (call == null) {
        Path failed = files.isWriting() ? null : begun;
        call = new StorageCall<>(() -> create(failed));
        preparing = call;
        if (!files.awaitPatiently(call.done()) && !call.isDone()) {
          log.once(
              "storage",
              "checkpoint.every: storage at "
                  + root
                  + " has not answered; the job continues, but takes no checkpoint until storage"
                  + " answers.");
        }
      }
      if (!call.isDone()) {
        return null;
      }
      preparing = null;
      return call.get();
    }

    private @Nullable Path create(@Nullable Path failed) throws IOException {
      CheckpointDirectory.Claim claim = claimed.get();
      if (claim == null) {
        return null; // Already logged.
      }
      CheckpointDirectory into = directory;
      if (into == null) {
        into = claim.directory(name);
        directory = into;
      }
      if (failed != null && Files.exists(failed)) {
        CheckpointDirectory.delete(failed);
      }
      return into.next(files.loads());
    }

    private void written() {
      begun = null;
      CheckpointDirectory into = directory;
      if (into != null && !into.retain(keep, log)) {
        log.once(
            "link",
            "checkpoint.every: no link named latest can be made in "
                + root
                + "; the checkpoint with the highest number is the newest.");
      }
      written.incrementAndGet();
    }

    /**
     * Returns how many nanoseconds to wait for the model's next step; not positive if it is not
     * being trained.
     */
    long patience() {
      return ended
          + Math.max(MIN_TRAINING_NANOS, PAUSED_FACTOR * steps.longest())
          - System.nanoTime();
    }

    boolean isOver() {
      return !trainer.isAlive() || model.get() == null || isExiting();
    }

    /** Whether the training thread waits in {@link System#exit} for the shutdown to end. */
    private boolean isExiting() {
      return Arrays.stream(trainer.getStackTrace())
          .anyMatch(frame -> frame.getClassName().equals("java.lang.Shutdown"));
    }
  }

  /** Called when a step has ended and the weights are updated. Never throws. */
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
    models.removeIf(this::forgetIfOld);
    if (models.size() == MAX_MODELS) {
      log.once(
          "models",
          Text.format(
              "checkpoint.every: the agent takes checkpoints of at most %s models at a time.",
              MAX_MODELS));
      return null;
    }
    StorageCall<CheckpointDirectory.Claim> claimed = claim;
    try {
      if (claimed == null) {
        files.train();
        Path from = resumed.get();
        claimed = new StorageCall<>(() -> claim(from));
        claim = claimed;
      }
    } catch (OutOfMemoryError e) { // No thread available.
      refuse(e);
      return null;
    }
    Trained added = new Trained(model, uniqueName(name), claimed);
    models.add(added);
    return added;
  }

  /** Claims the directory; if that fails, logs why and returns null. */
  private CheckpointDirectory.@Nullable Claim claim(@Nullable Path from) {
    try {
      CheckpointDirectory.Claim claimed =
          CheckpointDirectory.claim(ModelFiles.path(new File(root)), from);
      run = claimed.isFirst() ? root : new File(root, claimed.run().toFile().getName()).getPath();
      if (claimed.hasOthers()) {
        log.say(
            "checkpoint.every: %s has the checkpoints of another run, which are kept; those of this"
                + " job go to %s. resume=%s continues the newest run.",
            root, run, root);
      }
      return claimed;
    } catch (IOException | RuntimeException e) {
      refuse(e);
      return null;
    }
  }

  private synchronized void refuse(Throwable e) {
    closed = true;
    models.clear();
    unusedReason = "no checkpoint can be taken in " + root + " (" + e + ")";
    log.say("checkpoint.every: " + unusedReason + "; the job continues without agent checkpoints.");
  }

  private String uniqueName(String model) {
    String plain = model.replaceAll("[^A-Za-z0-9_-]", "_");
    String base = plain.isEmpty() ? "model" : plain.substring(0, Math.min(100, plain.length()));
    String unique = base;
    for (int i = 2; !names.add(unique); i++) {
      unique = base + "-" + i;
    }
    return unique;
  }

  /**
   * Frees the model's directory name for another model, and returns true, if the model is no longer
   * trained.
   */
  private boolean forgetIfOld(Trained known) {
    boolean old = known.model.get() == null || turns - known.turn > IDLE_STEPS;
    if (old) {
      names.remove(known.name);
    }
    return old;
  }

  /**
   * Called when the JVM ends. After {@code SIGTERM}, takes a last checkpoint of each model in
   * training as soon as its step has ended. Gives up on a model whose step takes much longer than
   * recent ones, and when the grace period is over. Without {@code SIGTERM}, abandons a checkpoint
   * that is being written.
   */
  public void end() {
    if (!isTerminated()) {
      files.abortAgentCheckpoint();
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
                  trained.last.await(Math.min(nanos, CHECK_NANOS), TimeUnit.NANOSECONDS)
                      || trained.isOver());
      if (!over && patience > 0) {
        log.say(
            "checkpoint.every: no last checkpoint was taken, because the training step did not end"
                + " soon enough; %s has the earlier ones.",
            root);
      }
    }
    files.awaitAgentCheckpoint(deadline - System.nanoTime());
  }

  /** The JDK starts a thread of this name only to run shutdown hooks after a signal. */
  private static boolean isTerminated() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("SIGTERM handler"));
  }

  /**
   * Releases the directory to other jobs in this JVM; otherwise it is released when the JVM ends.
   */
  void release() throws IOException {
    StorageCall<CheckpointDirectory.Claim> taken = claim;
    CheckpointDirectory.Claim mine = taken == null ? null : taken.get();
    if (mine != null) {
      mine.release();
    }
  }

  /** Returns the sentence for the summary; empty if no checkpoint was taken. */
  public synchronized String summary() {
    int count = written.get();
    return tried.get() == 0
        ? ""
        : Text.format(
            "checkpoint.every=%s: %d agent checkpoint%s in %s (the job waited %.3f s"
                + " for each%s)",
            every,
            count,
            count == 1 ? "" : "s",
            run,
            waited.sum() / 1e9 / tried.get(),
            intervals());
  }

  private String intervals() {
    return models.stream()
        .map(trained -> trained.steps.interval())
        .map(steps -> steps == 1 ? "" : ", one in " + steps + " steps at the end")
        .findFirst()
        .orElse("");
  }

  /** Returns why no checkpoint was taken; empty if one was. */
  public synchronized String whyUnused() {
    return tried.get() > 0
        ? ""
        : models.isEmpty()
            ? unusedReason
            : failed
                ? "no checkpoint could be taken"
                : "the job ended before the first checkpoint was due";
  }
}
