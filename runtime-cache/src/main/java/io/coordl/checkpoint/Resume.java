package io.coordl.checkpoint;

import io.coordl.host.UserFile;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.log.OnceLog;
import io.coordl.telemetry.log.UserLog;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The policy {@code resume=}: the job continues from the newest checkpoint that the agent took in
 * an earlier job. The program runs from its beginning, and the adapter of its library skips the
 * steps that the earlier job has done. Safe for concurrent use.
 */
public final class Resume {
  private final String root;
  private final ModelFiles files;
  private final OnceLog log;
  private final List<String> notRestored = new ArrayList<>();

  private @Nullable Path checkpoint;
  private String unusedReason;
  private boolean taken;
  private volatile boolean skipping;
  private @Nullable Path continued;
  private long from;
  private long start;
  private String summary = "";
  private int skippedSaves;

  /**
   * Searches {@code root} for a checkpoint, unless it is one itself. Must be created before any
   * checkpoint is written.
   */
  public Resume(String root, ModelFiles files, UserLog log) {
    this.root = root;
    this.files = files;
    files.rememberLoads();
    this.log = new OnceLog(log);
    this.unusedReason = "no training step of a model known to the agent has begun";
    try {
      checkpoint = find(ModelFiles.path(new File(root)));
    } catch (IOException | RuntimeException e) {
      startOver("cannot be read: " + e);
    }
  }

  private static String shown(@Nullable Path path) {
    return path == null ? "" : ModelFiles.shown(path);
  }

  private void startOver(String reason) {
    unusedReason = reason;
    log.say(
        "resume: cannot continue from %s (%s); the job runs as it would without resume=.",
        root, reason);
  }

  private @Nullable Path find(Path at) throws IOException {
    List<List<Path>> models = UserFile.call(() -> models(at));
    if (models.size() > 1) {
      startOver("checkpoints of several models, taken at different times");
      return null;
    }
    for (Path candidate : models.isEmpty() ? List.<Path>of() : models.get(0)) {
      if (SideFile.isVerified(candidate) && StateFile.isIntact(candidate)) {
        return candidate;
      }
      boolean finished = SideFile.hasCompleteModel(candidate) && StateFile.exists(candidate);
      log.say(
          finished
              ? "resume: %s is damaged, and is not used."
              : "resume: %s is not used, because its job ended before it was completely written.",
          shown(candidate));
    }
    startOver("no complete agent checkpoint");
    return null;
  }

  /** Returns the checkpoints of each model, the newest first. */
  private static List<List<Path>> models(Path at) throws IOException {
    List<List<Path>> models = new ArrayList<>();
    if (CheckpointDirectory.isCheckpoint(at)) {
      models.add(List.of(at));
    } else if (Files.isDirectory(at)) {
      models.add(CheckpointDirectory.numbered(at));
      if (models.get(0).isEmpty()) {
        models.addAll(CheckpointDirectory.newestRun(at));
      }
    }
    models.removeIf(List::isEmpty);
    return models;
  }

  /** Returns the checkpoint to continue from, but only to the first model that requests it. */
  public synchronized @Nullable Path take() {
    Path found = checkpoint;
    if (taken && found != null && !summary.isEmpty()) {
      log.once("models", "resume: the job trains a second model, which starts from the beginning.");
    }
    if (found == null || taken) {
      return null;
    }
    taken = true;
    files.train();
    String reason = loadsOther(found);
    if (reason != null) {
      fail(reason);
      return null;
    }
    return found;
  }

  /**
   * Returns why the job must not be resumed, judging by the models that the program itself loads;
   * null if it may be.
   */
  private @Nullable String loadsOther(Path found) {
    String then = null;
    try {
      then = CheckpointDirectory.loads(found);
    } catch (IOException e) {
      // Unknown, as in checkpoints of earlier versions.
    }
    Path loaded = files.loaded();
    if (then == null && loaded != null) {
      lacks(
          "the program itself loads "
              + shown(loaded)
              + ", but the checkpoint replaces that model: do not use resume= in programs that"
              + " restore their own models");
    } else if (then != null && !then.equals(files.loads())) {
      return loaded == null
          ? "the program does not load the model with which the checkpoint's run began"
          : "the program itself loads "
              + shown(loaded)
              + ", which is not the model with which the checkpoint's run began";
    }
    return null;
  }

  /** Records that the first model in training cannot be restored. */
  public synchronized void refuse(String reason) {
    if (take() != null) {
      fail(reason);
    }
  }

  /** Opens the state written by {@link AgentCheckpoints.Saver#state}. */
  public static DataInputStream open(Path checkpoint) throws IOException {
    InputStream file = new FileInputStream(StateFile.of(checkpoint).toFile());
    return new DataInputStream(new BufferedInputStream(file, 1 << 16));
  }

  /**
   * Records that the model has been restored to its state after {@code step}; the steps up to it
   * are skipped.
   */
  public synchronized void begin(long step) {
    from = step;
    start = System.nanoTime();
    skipping = true;
    continued = checkpoint;
    summary = " ";
    log.say("resume: continues from " + shown(checkpoint) + ", after step " + step + ".");
  }

  /** Whether the program is repeating steps, which are skipped. */
  public boolean isSkipping() {
    return skipping;
  }

  /**
   * Whether to skip a save: the program is repeating it, now with other weights, and the existing
   * file stays.
   */
  public synchronized boolean trySkipSave() {
    if (skipping) {
      skippedSaves++;
    }
    return skipping;
  }

  /** Records and logs a limitation; {@code what} is a clause. */
  public synchronized void lacks(String what) {
    if (notRestored.size() < 8 && !notRestored.contains(what)) {
      notRestored.add(what);
      log.say("resume: " + what + ".");
    }
  }

  /** Logs that used batches are prepared again because they come from {@code what}, a noun. */
  public void preparesAgain(String what) {
    log.once(
        "again",
        Text.format(
            "resume: the batches that the earlier job used are prepared again, but not trained on,"
                + " because they come from %s.",
            what));
  }

  /** Called when the job has caught up with the checkpoint. */
  public synchronized void end() {
    skipping = false;
    summary =
        Text.format(
            "resume: continued from %s, after step %d (reached %.1f s after the model was"
                + " restored)%s",
            shown(checkpoint),
            from,
            (System.nanoTime() - start) / 1e9,
            skippedSaves()
                + (notRestored.isEmpty()
                    ? ""
                    : "; with these limits: " + String.join("; ", notRestored)));
  }

  /** Like {@link #fail(String)}, with the exception as the reason. */
  public void fail(Throwable thrown) {
    fail(
        thrown instanceof EOFException
            ? "the checkpoint's state belongs to another model or program"
            : String.valueOf(thrown));
  }

  /** Records that the model could not be restored and stays as the program created it. */
  public synchronized void fail(String reason) {
    skipping = false;
    continued = null;
    startOver(reason);
  }

  /** Returns the checkpoint that the job continues from; null if it starts from scratch. */
  public synchronized @Nullable Path continued() {
    return continued;
  }

  /** Returns the sentence for the summary; empty if nothing was resumed. */
  public synchronized String summary() {
    return skipping
        ? Text.format(
            "resume: the program ended before step %s, after which %s was taken%s",
            from, shown(checkpoint), skippedSaves())
        : summary.strip();
  }

  private String skippedSaves() {
    return skippedSaves == 0 ? "" : "; repeated model saves that were skipped: " + skippedSaves;
  }

  /** Returns why nothing was resumed; empty if something was. */
  public synchronized String whyUnused() {
    return summary.isEmpty() ? unusedReason : "";
  }
}
