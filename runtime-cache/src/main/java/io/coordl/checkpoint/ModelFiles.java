package io.coordl.checkpoint;

import io.coordl.bridge.Bridge;
import io.coordl.event.PersistEvent;
import io.coordl.log.OnceLog;
import io.coordl.log.UserLog;
import io.coordl.thread.AgentThread;
import io.coordl.thread.Uninterrupted;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The policy {@code checkpoint=}: a model file is written beside its place, forced to disk, and
 * moved; with {@code async} on a thread of the agent, one at a time, from a snapshot. Safe for
 * concurrent use.
 */
public final class ModelFiles implements Closeable {
  /** The bytes of a file, or of a part of it. */
  @FunctionalInterface
  public interface Content {
    /** Writes them; leaves the stream open. */
    void writeTo(OutputStream out) throws IOException;
  }

  /** Hears of each file that was written, or could not be. */
  @FunctionalInterface
  public interface Listener {
    /** Times as of {@link System#nanoTime}. */
    void written(PersistEvent event, long start, long end);
  }

  private final LongSupplier staging;
  private final Listener listener;
  private final OnceLog log;

  private final ReentrantLock turn = new ReentrantLock();

  private volatile boolean background;
  private volatile @Nullable InFlight inFlight;
  private @Nullable IOException failure;

  private final Deque<ByteBuffer> pieces = new ArrayDeque<>();
  private long budget = -1;
  private long staged;

  private int files;
  private long bytes;
  private long nanos;
  private int left;
  private int damaged;

  /** A file that is being written in the background. */
  private static final class InFlight {
    final Path target;
    final CountDownLatch done = new CountDownLatch(1);
    final List<Runnable> then = new ArrayList<>();

    @Nullable Thread by;

    InFlight(Path target) {
      this.target = target;
    }
  }

  /**
   * A policy.
   *
   * @param background whether {@link #inBackground} is to be
   * @param staging bytes that snapshots may take, asked once
   * @param log takes sentences for the user
   */
  public ModelFiles(boolean background, LongSupplier staging, Listener listener, UserLog log) {
    this.background = background;
    this.staging = staging;
    this.listener = listener;
    this.log = new OnceLog(log);
  }

  /** Whether files are written in the background: not any more when the job ends. */
  public boolean inBackground() {
    return background;
  }

  /**
   * Whether this thread may take a snapshot now, to be written in the background: the one before is
   * written. {@link #endTurn} is due if so. Not while another thread takes one, or this one does:
   * then the file is written at once, and nobody waits for anybody.
   *
   * @throws IOException that the last one had
   */
  public boolean beginTurn() throws IOException {
    if (!background || turn.isHeldByCurrentThread() || !turn.tryLock()) {
      return false;
    }
    try {
      settle();
      return true;
    } catch (IOException e) {
      turn.unlock();
      throw e;
    }
  }

  /** The snapshot is handed over, or was not taken. */
  public void endTurn() {
    turn.unlock();
  }

  /** Takes so many bytes of the budget for a snapshot; that there are too few is said once. */
  public synchronized boolean stage(long size) {
    if (budget < 0) {
      budget = staging.getAsLong();
    }
    if (size > budget - staged) {
      log.once(
          "staging",
          "checkpoint=async: a snapshot takes more than the "
              + mebibytes(budget)
              + " that it may (checkpoint.size), so the job waits until the file is written, as"
              + " with checkpoint=atomic.");
      return false;
    }
    staged += size;
    return true;
  }

  /** Gives them back. */
  public synchronized void unstage(long size) {
    staged -= size;
  }

  /** Memory for what a library writes, and where it goes if that is too little. */
  public Staged stageStream(OutputStream file) {
    return new Staged(this, file);
  }

  /** Memory to write to; null if there is none. */
  @Nullable ByteBuffer takePiece() {
    synchronized (this) {
      ByteBuffer old = pieces.poll();
      if (old != null) {
        return old.clear();
      }
    }
    if (!stage(Staged.PIECE)) {
      return null;
    }
    try {
      return ByteBuffer.allocateDirect(Staged.PIECE);
    } catch (OutOfMemoryError e) {
      unstage(Staged.PIECE);
      return null;
    }
  }

  synchronized void givePiece(ByteBuffer piece) {
    pieces.push(piece);
  }

  /** A file to write in the place of {@code target}; null: the library is to write it. */
  public @Nullable ModelFile create(Path target) {
    await(target);
    try {
      ModelFile file = ModelFile.create(target);
      sweep(file.target());
      return file;
    } catch (ModelFile.LeftAloneException e) {
      SideFile.forget(target);
      String reason = e.getMessage();
      if (reason != null && !reason.isEmpty()) {
        synchronized (this) {
          left++;
        }
        log.once(
            target + reason,
            "checkpoint: " + target + " is written by the library: " + reason + ".");
      }
      return null;
    }
  }

  private static void sweep(Path file) {
    Path directory = file.toAbsolutePath().getParent();
    if (directory != null) {
      ModelFile.sweep(directory);
    }
  }

  /** Writes all of a file, and publishes it; the caller closes it. */
  public void write(ModelFile file, Content content) throws IOException {
    long start = System.nanoTime();
    try {
      content.writeTo(file.stream());
      publish(file, start, false);
    } catch (IOException e) {
      tell(file, start, false, e);
      throw e;
    }
  }

  /** Publishes a file whose content has been written. */
  public void publish(ModelFile file, long start) throws IOException {
    try {
      publish(file, start, false);
    } catch (IOException e) {
      tell(file, start, false, e);
      throw e;
    }
  }

  private void publish(ModelFile file, long start, boolean late) throws IOException {
    if (!file.publish()) {
      log.once(
          "checkpoint: "
              + SideFile.of(file.target())
              + " is not of the agent, so "
              + file.target()
              + " cannot be verified later.");
    }
    synchronized (this) {
      files++;
      bytes += file.bytes();
      nanos += System.nanoTime() - start;
    }
    tell(file, start, late, null);
  }

  private void tell(ModelFile file, long start, boolean late, @Nullable IOException failed) {
    PersistEvent event = new PersistEvent();
    event.target = file.target().toString();
    event.bytes = file.bytes();
    event.background = late;
    event.failure = failed == null ? "" : String.valueOf(failed.getMessage());
    listener.written(event, start, System.nanoTime());
  }

  /** Writes a file in the background, publishes and closes it. In this thread's turn. */
  public void persist(ModelFile file, Content content) {
    InFlight mine = new InFlight(file.target());
    mine.by = new AgentThread("coordl-checkpoint", () -> persist(mine, file, content));
    inFlight = mine;
    mine.by.start();
  }

  private void persist(InFlight mine, ModelFile file, Content content) {
    long start = System.nanoTime();
    try (file) {
      content.writeTo(file.stream());
      publish(file, start, true);
      for (List<Runnable> then = take(mine); !then.isEmpty(); then = take(mine)) {
        then.forEach(Runnable::run);
      }
    } catch (Throwable t) {
      IOException failed =
          new IOException("The model could not be written to " + mine.target + ": " + t, t);
      synchronized (this) {
        failure = failed;
      }
      tell(file, start, true, failed);
    } finally {
      synchronized (this) {
        inFlight = null;
      }
      mine.done.countDown();
    }
  }

  /** What is to be done now; where that is nothing, the file is no longer being written. */
  private synchronized List<Runnable> take(InFlight mine) {
    List<Runnable> then = List.copyOf(mine.then);
    mine.then.clear();
    if (then.isEmpty()) {
      inFlight = null;
    }
    return then;
  }

  /**
   * As {@link #await()}.
   *
   * @throws IOException that the last one had, once: nobody has heard of it yet
   */
  void settle() throws IOException {
    await();
    synchronized (this) {
      IOException failed = failure;
      failure = null;
      if (failed != null) {
        throw failed;
      }
    }
  }

  /** Waits until no file is being written. */
  public void await() {
    InFlight other = inFlight;
    if (other != null && other.by != Thread.currentThread()) {
      Uninterrupted.await(
          Long.MAX_VALUE / 2, nanos -> other.done.await(nanos, TimeUnit.NANOSECONDS));
    }
  }

  /** Runs that once the file that is being written is in place, never if it fails; now if none. */
  public void afterwards(Runnable action) {
    synchronized (this) {
      InFlight now = inFlight;
      if (now != null) {
        now.then.add(action);
        return;
      }
    }
    action.run();
  }

  /** Whether this file is being written. */
  private boolean isPending(Path file) {
    InFlight now = inFlight;
    return now != null && now.target.equals(real(file));
  }

  /** A file is about to be read: waits until it is there. */
  public void await(Path file) {
    if (inFlight != null && isPending(file)) {
      await();
    }
  }

  private static Path real(Path file) {
    try {
      return file.toRealPath();
    } catch (IOException e) {
      Path parent = file.toAbsolutePath().getParent();
      try {
        return parent == null ? file : parent.toRealPath().resolve(file.getFileName());
      } catch (IOException gone) {
        return file.toAbsolutePath();
      }
    }
  }

  /** Whether it is known what a file must be, and it is something else; that is said. */
  public boolean isDamaged(Path file) {
    await(file);
    sweep(file);
    try {
      SideFile known = SideFile.read(file);
      if (known == null || !Files.isRegularFile(file) || known.isOf(file)) {
        return false;
      }
    } catch (IOException e) {
      return false; // The library will meet that too.
    }
    synchronized (this) {
      damaged++;
    }
    log.say("checkpoint: " + damage(file));
    return true;
  }

  private static String damage(Path file) {
    return file
        + " is damaged: its length or SHA-256 is not that in "
        + SideFile.of(file).getFileName()
        + " (delete that if the file was changed on purpose).";
  }

  /**
   * A file is about to be loaded, this one and no other.
   *
   * @throws IOException if it is damaged though nobody has written it since: else the library
   *     tries, for it may have been replaced on purpose
   */
  public void check(Path file) throws IOException {
    if (isDamaged(file)) {
      SideFile known = SideFile.read(file);
      if (known != null && known.isUntouched(file)) {
        throw new IOException(damage(file));
      }
    }
  }

  /** The library has changed a file in place. */
  public void changed(Path file) {
    try {
      if (SideFile.read(file) != null) {
        SideFile.renew(file);
      }
    } catch (IOException e) {
      log.say("checkpoint: " + file + " cannot be verified later (" + e + ").");
    }
  }

  /** For the summary; empty if no model was written. */
  public synchronized String said() {
    if (files == 0 && left == 0 && damaged == 0) {
      return "";
    }
    return String.format(
        Locale.ROOT,
        "checkpoint: %d model file%s written whole (%s, %.2f s each%s)%s%s",
        files,
        files == 1 ? "" : "s",
        mebibytes(bytes),
        files == 0 ? 0 : nanos / 1e9 / files,
        background ? ", in the background" : "",
        left == 0 ? "" : ", " + left + " left to the library",
        damaged == 0 ? "" : ", " + damaged + " found damaged");
  }

  /** Why the policy did nothing, empty if it did something. */
  public synchronized String whyUnused() {
    return files + left + damaged > 0 ? "" : "the program has written no model";
  }

  private static String mebibytes(long size) {
    return String.format(Locale.ROOT, "%.1f MiB", size / (double) (1 << 20));
  }

  /** The job ends: waits for what is being written; what follows is written at once. */
  @Override
  public void close() {
    background = false;
    try {
      settle();
    } catch (IOException e) {
      log.say("checkpoint: " + e.getMessage() + ".");
      Bridge.fault("checkpoint", e);
    }
  }
}
