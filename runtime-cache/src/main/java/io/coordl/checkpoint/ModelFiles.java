package io.coordl.checkpoint;

import io.coordl.host.AgentThread;
import io.coordl.host.Uninterrupted;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.event.PersistEvent;
import io.coordl.telemetry.log.OnceLog;
import io.coordl.telemetry.log.UserLog;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The policy {@code checkpoint=}: writes a model file beside its target, forces it to disk and
 * moves it into place. With {@code async}, a thread of the agent does this from a snapshot, one
 * file at a time. Safe for concurrent use.
 */
public final class ModelFiles implements Closeable {
  /** The bytes of a file, or of a part of it. */
  @FunctionalInterface
  public interface Content {
    /** Writes the bytes; leaves the stream open. */
    void writeTo(OutputStream out) throws IOException;

    /**
     * Returns a copy, which later changes by the program do not affect; null if there is no memory
     * for it.
     */
    default @Nullable Content snapshot() throws IOException {
      return null;
    }
  }

  /** Receives an event for each file that was written or that failed. */
  @FunctionalInterface
  public interface Listener {
    /** Called with times from {@link System#nanoTime}. */
    void written(PersistEvent event, long start, long end);
  }

  private final SnapshotMemory memory;
  private final Listener listener;
  private final OnceLog log;

  /** A directory is swept once in this many uses, because it may be large. */
  private static final int USES_PER_SWEEP = 16;

  /**
   * Maximum number of directories whose uses are counted; a program may have one for each model.
   */
  private static final int MAX_DIRECTORIES = 1024;

  private static final Path PROCESS = Path.of("/proc/self/cwd");
  private static final Path WORKING_DIRECTORY =
      Files.exists(PROCESS) ? PROCESS : Path.of("").toAbsolutePath();

  /**
   * If storage accepts no bytes of the agent's own files for this long, the agent stops waiting.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /**
   * The program waits for its own files without a limit, as its own call would. When the JVM ends,
   * the wait is given up after this many times {@link #PATIENCE} without progress.
   */
  private static final int PROGRAM_PATIENCE_FACTOR = 60;

  /**
   * Monitor for moving the program's files. Each checkpoint of the agent has its own directory and
   * monitor.
   */
  private static final Object MOVING = new Object();

  private final Map<Path, Integer> uses = new ConcurrentHashMap<>();
  private final ReentrantLock turn = new ReentrantLock();

  private final boolean asynchronous;
  private final Predicate<CountDownLatch> patience;

  /** State file of the agent's checkpoint that this thread is taking; null if it takes none. */
  private static final ThreadLocal<@Nullable StateFile> AGENT_STATE = new ThreadLocal<>();

  private volatile boolean background;
  private volatile boolean ending;
  private volatile @Nullable Pending inFlight;
  private @Nullable IOException failure;

  /**
   * Identifier of the models that the program loaded before training; every start of the same run
   * loads the same ones.
   */
  private String loads = "";

  private @Nullable Path loaded;
  private boolean remembersLoads;

  private int files;
  private long bytes;
  private long nanos;
  private int leftToLibrary;
  private int damaged;

  /** A model file that is being written, or has been. */
  public static final class Pending {
    private final ModelFile file;
    private final CountDownLatch done = new CountDownLatch(1);
    private final List<Runnable> then = new ArrayList<>();
    private boolean inPlace;
    private boolean failed;
    private volatile boolean abandoned;

    /** State that must be on disk before the file is in place; null for the program's own file. */
    private @Nullable StateFile agentState;

    /** Thread that writes the file; null until it is known. */
    @Nullable Thread writer;

    Pending(ModelFile file, boolean inPlace) {
      this.file = file;
      this.inPlace = inPlace;
    }

    /** Whether the file is in place and the actions that waited for it have run. */
    public synchronized boolean isInPlace() {
      return inPlace;
    }

    /**
     * Runs {@code action} once the file is in place, in the order of the calls; never if the write
     * fails.
     */
    public void then(Runnable action) {
      synchronized (this) {
        if (!inPlace) {
          if (!failed) {
            then.add(action);
          }
          return;
        }
      }
      action.run();
    }

    /** Takes the actions to run now; if there are none, later ones run immediately. */
    private synchronized List<Runnable> take() {
      List<Runnable> all = List.copyOf(then);
      then.clear();
      inPlace = all.isEmpty();
      return all;
    }

    private synchronized void fail() {
      failed = true;
    }

    private long written() {
      return file.hashing().bytes() + (agentState == null ? 0 : agentState.hashing().bytes());
    }
  }

  /**
   * Creates the policy.
   *
   * @param background initial value of {@link #inBackground}
   * @param staging returns the bytes that snapshots may take; called at most once
   */
  public ModelFiles(boolean background, LongSupplier staging, Listener listener, UserLog log) {
    this(background, staging, listener, log, done -> AgentThread.await(done, PATIENCE));
  }

  /** Uses {@code patience}, which waits for a while and returns whether the latch has opened. */
  ModelFiles(
      boolean background,
      LongSupplier staging,
      Listener listener,
      UserLog log,
      Predicate<CountDownLatch> patience) {
    this.patience = patience;
    this.background = background;
    this.asynchronous = background;
    this.listener = listener;
    this.log = new OnceLog(log);
    this.memory = new SnapshotMemory(staging, this.log);
  }

  /** Whether files are written in the background; false once the job ends. */
  public boolean inBackground() {
    return background;
  }

  /** Waits for the latch as long as for the agent's own files; returns whether it has opened. */
  boolean awaitPatiently(CountDownLatch done) {
    return patience.test(done);
  }

  boolean isWriting() {
    return inFlight != null;
  }

  /** Makes the write of an agent checkpoint fail, if one is in progress. */
  void abortAgentCheckpoint() {
    Pending now = inFlight;
    if (now != null && now.agentState != null) {
      now.agentState.hashing().abort();
      now.file.hashing().abort();
    }
  }

  /**
   * Saves one of the agent's own checkpoints. Throws only failures of this save, which the program
   * does not see.
   *
   * @return the pending file; null if it was not written in the background
   */
  @Nullable Pending asAgent(AgentCheckpoints.Saver saver, Path directory) throws IOException {
    StateFile state = new StateFile(directory, memory, saver);
    AGENT_STATE.set(state);
    try {
      if (!background) {
        state.write();
      }
      saver.save(directory);
      if (state.writtenWith() == null) {
        state.write();
      }
      return state.writtenWith();
    } finally {
      AGENT_STATE.remove();
      if (state.writtenWith() == null) {
        state.close();
      }
    }
  }

  /**
   * Waits until the previous file is written, and returns whether this thread may take a snapshot
   * now, to be written in the background. If true, the caller must call {@link #endTurn}. If false,
   * for example because another thread is taking a snapshot, the file is written immediately: no
   * thread waits for its turn.
   */
  boolean beginTurn() {
    boolean mine = background && !turn.isHeldByCurrentThread() && turn.tryLock();
    await(); // This thread may have saved that file and may number files by those that exist.
    if (mine && isWriting()) { // The previous file was abandoned, but its snapshot is still in use.
      turn.unlock();
      return false;
    }
    return mine;
  }

  /** Ends the turn: the snapshot is handed over or was not taken. */
  void endTurn() {
    turn.unlock();
  }

  public SnapshotMemory memory() {
    return memory;
  }

  /**
   * Saves a model: in the background if a snapshot can be taken, otherwise immediately.
   *
   * @return the pending file; null if the library has to write it
   * @throws IOException if this save failed, or an earlier one in the background
   */
  public @Nullable Pending save(Path target, Content content) throws IOException {
    try (Saving saving = begin()) {
      return saving.create(target) ? saving.write(content) : null;
    }
  }

  /** Begins to save a model whose file the library opens itself; the caller closes the result. */
  public Saving begin() {
    return new Saving(this);
  }

  /**
   * Returns a file that will replace {@code target}; null if the library must write it. For an
   * agent checkpoint, only the name of {@code target} is used, because the library may use another
   * directory.
   */
  @Nullable ModelFile create(Path target) {
    StateFile agentState = AGENT_STATE.get();
    if (agentState != null) {
      return ModelFile.later(agentState.checkpoint().resolve(target.getFileName()));
    }
    await(target);
    sweep(target);
    try {
      return ModelFile.create(target);
    } catch (ModelFile.UnsupportedTargetException e) {
      SideFile.forget(target);
      String reason = e.getMessage();
      if (reason != null && !reason.isEmpty()) {
        synchronized (this) {
          leftToLibrary++;
        }
        log.once(
            target.toString(),
            "checkpoint: " + target + " is written by the library: " + reason + ".");
      }
      return null;
    }
  }

  /** Sweeps a directory when it is first used, and occasionally later. */
  private void sweep(Path file) {
    Path directory = file.toAbsolutePath().getParent();
    if (uses.size() > MAX_DIRECTORIES) {
      uses.clear();
    }
    if (directory != null
        && file.getFileSystem() == FileSystems.getDefault()
        && uses.merge(directory, 1, Integer::sum) % USES_PER_SWEEP == 1) {
      ModelFile.sweep(file);
    }
  }

  /** Writes all of a file, and publishes it; the caller closes it. */
  void write(ModelFile file, Content content) throws IOException {
    write(file, content, System.nanoTime());
  }

  void write(ModelFile file, Content content, long start) throws IOException {
    try {
      content.writeTo(file.stream());
      publish(file, start, false, MOVING);
    } catch (IOException e) {
      report(file, start, false, String.valueOf(e.getMessage()));
      throw e;
    }
  }

  private void publish(ModelFile file, long start, boolean late, Object moving) throws IOException {
    String warning = file.publish(late, moving);
    if (!warning.isEmpty()) {
      log.once(warning);
    }
    if (file.isPublished()) {
      synchronized (this) {
        files++;
        bytes += file.hashing().bytes();
        nanos += System.nanoTime() - start;
      }
    }
    report(file, start, late, file.isPublished() ? "" : warning);
  }

  private void report(ModelFile file, long start, boolean late, String failure) {
    PersistEvent event = new PersistEvent();
    event.target = file.target().toString();
    event.bytes = file.hashing().bytes();
    event.background = late;
    event.failure = failure;
    listener.written(event, start, System.nanoTime());
  }

  /**
   * Writes a file in the background, publishes and closes it; does so immediately, on this thread,
   * if the job is ending or no thread can be started. Called in this thread's turn; the caller must
   * then call {@link #raise}. Returns the pending file.
   */
  Pending persist(ModelFile file, Content content) {
    Pending mine = new Pending(file, false);
    StateFile state = AGENT_STATE.get();
    if (state != null) {
      state.handOver(mine);
      mine.agentState = state;
    }
    Thread writer = new AgentThread("coordl-checkpoint", () -> persist(mine, content));
    mine.writer = writer;
    synchronized (this) {
      if (background) {
        inFlight = mine;
        try {
          writer.start();
          return mine;
        } catch (OutOfMemoryError e) { // No thread available.
          inFlight = null;
        }
      }
    }
    mine.writer = Thread.currentThread();
    persist(mine, content);
    return mine;
  }

  private void persist(Pending mine, Content content) {
    long start = System.nanoTime();
    ModelFile file = mine.file;
    try (file) {
      content.writeTo(file.stream()); // First, because this gives the memory back.
      StateFile state = mine.agentState;
      if (state != null) {
        state.write();
      }
      publish(file, start, true, state == null ? MOVING : state);
      for (List<Runnable> then = mine.take(); !then.isEmpty(); then = mine.take()) {
        then.forEach(Runnable::run);
      }
    } catch (Throwable t) {
      IOException failed =
          new IOException("The model could not be written to " + file.target() + ": " + t, t);
      if (!file.isPublished()) { // Later steps may fail too, but a published file stays.
        discard(mine.agentState);
      }
      if (mine.agentState != null && file.hashing().isAborted()) {
        log.once("checkpoint.every: the job ended while a checkpoint was being written.");
      } else if (mine.agentState != null) {
        log.once(
            "agents",
            "checkpoint.every: " + failed.getMessage() + "; later failures are not logged.");
      } else {
        synchronized (this) {
          failure = failed;
        }
      }
      mine.fail();
      report(file, start, true, String.valueOf(failed.getMessage()));
    } finally {
      if (mine.agentState != null) {
        mine.agentState.close();
      }
      synchronized (this) {
        if (inFlight == mine) {
          inFlight = null;
        }
      }
      mine.done.countDown();
    }
  }

  /** Deletes the remains of one of the agent's own checkpoints that failed. */
  private static void discard(@Nullable StateFile failed) {
    try {
      if (failed != null) {
        failed.close();
        CheckpointDirectory.delete(failed.checkpoint());
      }
    } catch (IOException e) {
      // The next complete checkpoint removes it.
    }
  }

  /**
   * Throws the failure of an earlier write in the background, once; does nothing while this thread
   * takes an agent checkpoint.
   */
  synchronized void raise() throws IOException {
    if (AGENT_STATE.get() != null) {
      return;
    }
    IOException failed = failure;
    failure = null;
    if (failed != null) {
      throw failed;
    }
  }

  /**
   * Called when the JVM ends. Waits up to {@code nanos} for one of the agent's own files, even if
   * storage accepts nothing for a while, as when it forces much data to disk; then waits like
   * {@link #await()}.
   */
  void awaitAgentCheckpoint(long nanos) {
    Pending last = inFlight;
    if (last != null && last.agentState != null) {
      Uninterrupted.await(nanos, left -> last.done.await(left, TimeUnit.NANOSECONDS));
    }
    await();
  }

  /**
   * Waits for the file that is being written. Stops waiting if storage no longer accepts its bytes,
   * but for the program's own files only when the JVM ends. If storage recovers, the file is still
   * written completely.
   */
  public void await() {
    Pending other = inFlight;
    if (other == null || other.writer == Thread.currentThread() || other.abandoned) {
      return;
    }
    boolean isOfProgram = other.agentState == null;
    int maxQuiet = isOfProgram ? PROGRAM_PATIENCE_FACTOR : 1;
    int quiet = 0;
    while (quiet < maxQuiet) {
      long before = other.written();
      if (patience.test(other.done)) {
        return;
      }
      boolean waits = isOfProgram && !ending;
      quiet = waits || other.written() > before ? 0 : quiet + 1;
    }
    other.abandoned = true;
    log.once(
        "storage",
        Text.format(
            "%s: storage has accepted no bytes of %s for %s s; the job %s without waiting for it.",
            isOfProgram ? "checkpoint" : "checkpoint.every",
            other.file.target(),
            maxQuiet * PATIENCE.toSeconds(),
            isOfProgram ? "ends" : "continues"));
  }

  /**
   * Returns the path where {@code java.io} finds a file: relative to the working directory,
   * whatever {@code user.dir} says.
   */
  public static Path path(File file) {
    Path path = file.toPath();
    return path.isAbsolute() ? path : WORKING_DIRECTORY.resolve(path);
  }

  /** Returns a path from {@link #path} as the user would write it. */
  static String shown(Path path) {
    return (path.startsWith(WORKING_DIRECTORY) ? WORKING_DIRECTORY.relativize(path) : path)
        .toString();
  }

  /** Called before a file is read; waits until it is in place. */
  public void await(Path file) {
    Pending now = inFlight;
    try {
      if (now != null && now.file.target().equals(ModelFile.real(file))) {
        await();
      }
    } catch (IOException e) {
      // There is no such directory; the library will report it.
    }
  }

  /** Checks whether a file differs from what the agent wrote; if so, logs that and returns true. */
  public boolean detectDamage(Path file) {
    await(file);
    sweep(file);
    try {
      SideFile known = SideFile.read(file);
      if (known == null || !Files.isRegularFile(file) || known.matches(file)) {
        return false;
      }
      known = SideFile.read(file); // Another thread may have replaced both since.
      if (known == null || known.matches(file)) {
        return false;
      }
    } catch (IOException e) {
      return false; // The library will get the same error.
    }
    synchronized (this) {
      damaged++;
    }
    log.say("checkpoint: " + damage(file));
    return true;
  }

  /**
   * Returns the newest of a library's models whose file is undamaged; {@code last} if there is
   * none.
   *
   * @param last the newest
   * @param before the others, the newest first; read only if the last one is damaged
   * @param file returns the path of a model
   */
  public <T> T newestWhole(T last, Iterable<? extends T> before, Function<? super T, Path> file) {
    if (!detectDamage(file.apply(last))) {
      return last;
    }
    for (T older : before) {
      if (!detectDamage(file.apply(older))) {
        return older;
      }
    }
    return last;
  }

  private static String damage(Path file) {
    return file
        + " is damaged: its length or SHA-256 differs from that in "
        + SideFile.of(file)
        + " (delete the latter if the model was changed on purpose).";
  }

  /**
   * Called before exactly this file is loaded. Throws if it is damaged and its modification time is
   * unchanged. Otherwise the library tries it, because the user may have replaced it on purpose.
   */
  public void check(Path file) throws IOException {
    if (detectDamage(file)) {
      SideFile known = SideFile.read(file);
      if (known != null && known.isUntouched(file)) {
        throw new IOException(damage(file));
      }
    }
    rememberLoad(file);
  }

  /** Starts remembering loads, until {@link #train}. */
  synchronized void rememberLoads() {
    remembersLoads = true;
  }

  private synchronized void rememberLoad(Path file) {
    try {
      if (remembersLoads && Files.isRegularFile(file)) {
        String before = loads + SideFile.hash(file);
        loads = SideFile.hash(before.getBytes(StandardCharsets.US_ASCII));
        loaded = file;
      }
    } catch (IOException e) {
      // The library will get the same error.
    }
  }

  /** Called when the program trains: models that it loads later are not its starting point. */
  synchronized void train() {
    remembersLoads = false;
  }

  /**
   * Returns an identifier of the models that the program loaded before training; empty if there are
   * none.
   */
  synchronized String loads() {
    return loads;
  }

  /** Returns the last model that the program loaded before training; null if there is none. */
  synchronized @Nullable Path loaded() {
    return loaded;
  }

  /** Called when the library has changed a file in place. */
  public void changed(Path file) {
    try {
      if (SideFile.read(file) != null) {
        SideFile.write(file, file, SideFile.hash(file));
      }
    } catch (IOException e) {
      log.say("checkpoint: " + file + " cannot be verified later (" + e + ").");
    }
  }

  /** Called when the JVM ends: from now on, every wait for unresponsive storage is bounded. */
  public void ends() {
    ending = true;
  }

  /** Returns the sentence for the summary; empty if there is nothing to report. */
  public String summary() {
    await();
    synchronized (this) {
      if (files == 0 && leftToLibrary == 0 && damaged == 0) {
        return "";
      }
      return Text.format(
          "checkpoint: %d model file%s written whole (%s in total, %.2f s each%s)%s%s",
          files,
          files == 1 ? "" : "s",
          SnapshotMemory.mebibytes(bytes),
          files == 0 ? 0 : nanos / 1e9 / files,
          asynchronous ? ", in the background" : "",
          leftToLibrary == 0 ? "" : ", " + leftToLibrary + " left to the library",
          damaged == 0 ? "" : ", " + damaged + " found damaged");
    }
  }

  /** Returns why the policy did nothing; empty if it did something. */
  public String whyUnused() {
    return !summary().isEmpty() ? "" : "the program has written no model";
  }

  /**
   * Called when the job ends. Waits for the file that is being written; later ones are written
   * immediately.
   */
  @Override
  public void close() {
    ends();
    synchronized (this) {
      background = false;
    }
    await();
    try {
      raise();
    } catch (IOException e) {
      log.say("checkpoint: " + e.getMessage() + ".");
    }
  }
}
