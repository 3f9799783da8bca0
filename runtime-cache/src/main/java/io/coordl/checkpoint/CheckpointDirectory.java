package io.coordl.checkpoint;

import io.coordl.host.OwnFiles;
import io.coordl.telemetry.log.OnceLog;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The agent's own checkpoints of one model: numbered directories, and a link {@code latest} to the
 * newest complete one.
 *
 * <p>They are in the directory of a run, which is a job and the jobs that continue from its
 * checkpoints. The first run uses {@code checkpoint.dir} itself. A later run that finds checkpoints
 * there, and does not continue from the newest one, uses {@code run.2}, {@code run.3}, ... in it,
 * and does not touch the checkpoints of earlier runs.
 *
 * <p>The agent deletes a complete checkpoint only after a newer one is on disk and has been read
 * back. It deletes only files that it wrote itself, and renames a checkpoint whose model somebody
 * else changed.
 */
final class CheckpointDirectory {
  private static final String LATEST = "latest";

  /** Contains a dot, unlike any model's directory. */
  private static final Pattern RUN = Pattern.compile("run\\.(\\d{1,9})");

  private static final Pattern NUMBER = Pattern.compile("\\d{6,12}");
  private static final String KEPT = ".kept";

  /** Start of the text in a {@link #mark}; earlier versions wrote empty marks. */
  private static final String LOADED = "loaded ";

  private static final int MAX_RUNS = 100;

  private final Path path;
  private long number;

  private CheckpointDirectory(Path path) throws IOException {
    OwnFiles.requireOwnLinks(path);
    this.path = Files.createDirectories(path);
    List<Path> all = numbered(path);
    this.number = all.isEmpty() ? 0 : number(all.get(0));
  }

  /** The directory of one run, in a root that this job has locked. Used only on agent threads. */
  static final class Claim {
    private final FileChannel lock;
    private final Path run;
    private final boolean isFirst;
    private final boolean hasOthers;

    private Claim(FileChannel lock, Path run, boolean isFirst, boolean hasOthers) {
      this.lock = lock;
      this.run = run;
      this.isFirst = isFirst;
      this.hasOthers = hasOthers;
    }

    /** Returns the directory of the run; it contains a directory for each model. */
    Path run() {
      return run;
    }

    /** Whether this is {@code checkpoint.dir} itself. */
    boolean isFirst() {
      return isFirst;
    }

    void release() throws IOException {
      lock.close();
    }

    /** Whether this run is new and {@code checkpoint.dir} has checkpoints of other runs. */
    boolean hasOthers() {
      return hasOthers;
    }

    CheckpointDirectory directory(String model) throws IOException {
      if (!lock.isOpen()) {
        throw new IOException("its lock has been closed");
      }
      return new CheckpointDirectory(run.resolve(model));
    }
  }

  /**
   * Locks {@code root} until this job ends, and chooses the directory of a run in it. Throws if
   * another job has locked it or if it cannot be created. Called only on agent threads, because
   * storage may hang.
   *
   * @param from the checkpoint that the job continues from; null if it starts from scratch
   */
  static Claim claim(Path root, @Nullable Path from) throws IOException {
    OwnFiles.requireOwnLinks(root.toAbsolutePath());
    Path all = Files.createDirectories(root).toRealPath();
    FileChannel lock =
        OwnFiles.openOrCreate(OwnFiles.directory(all.resolve(SideFile.DIRECTORY)).resolve("lock"));
    try {
      if (lock.tryLock() == null) {
        throw new IOException("another job writes its checkpoints there");
      }
      List<Path> runs = runs(all);
      Path resumed = from == null ? null : runOrNone(from, runs);
      if (resumed != null) {
        return new Claim(lock, resumed, resumed.equals(all), false);
      }
      Path last = runs.get(0);
      boolean used = !models(last, true).isEmpty();
      if (used && runs.size() >= MAX_RUNS) {
        throw new IOException("it already has the checkpoints of " + runs.size() + " runs");
      }
      Path mine = used ? all.resolve("run." + nextRun(all)) : last;
      return new Claim(lock, mine, mine.equals(all), used || runs.size() > 1);
    } catch (OverlappingFileLockException e) {
      lock.close();
      throw new IOException("another job of this JVM writes its checkpoints there", e);
    } catch (IOException | RuntimeException | Error e) {
      lock.close();
      throw e;
    }
  }

  /** Like {@link #runOf}, but also null if the checkpoint has been removed since. */
  private static @Nullable Path runOrNone(Path checkpoint, List<Path> runs) throws IOException {
    try {
      return runOf(checkpoint, runs);
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /**
   * Returns the run in which this is a model's newest complete checkpoint; null if there is none.
   */
  private static @Nullable Path runOf(Path checkpoint, List<Path> runs) throws IOException {
    Path model = checkpoint.toRealPath().getParent();
    Path run = model == null ? null : model.getParent();
    Path ours = null;
    for (Path each : run == null ? List.<Path>of() : runs) {
      ours = Files.isSameFile(each, run) ? each : ours; // A link may point to it.
    }
    if (model == null || ours == null) {
      return null;
    }
    for (Path newer : numbered(model)) {
      if (Files.isSameFile(newer, checkpoint)) {
        return ours;
      }
      if (SideFile.isVerified(newer) && StateFile.isIntact(newer)) {
        return null;
      }
    }
    return null;
  }

  /** Returns a number greater than that of any run, or of any other file with such a name. */
  private static long nextRun(Path root) throws IOException {
    long last = 1;
    try (DirectoryStream<Path> all = Files.newDirectoryStream(root, "run.*")) {
      for (Path file : all) {
        boolean isRun = RUN.matcher(file.getFileName().toString()).matches();
        last = isRun ? Math.max(last, number(file)) : last;
      }
    }
    return last + 1;
  }

  /**
   * Returns the directories of runs, the newest first; the last is {@code root} itself. Includes
   * links to directories, because the user may have moved one to another disk.
   */
  private static List<Path> runs(Path root) throws IOException {
    List<Path> runs = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(root)) {
      for (Path file : all) {
        if (RUN.matcher(file.getFileName().toString()).matches() && Files.isDirectory(file)) {
          runs.add(file);
        }
      }
    }
    runs.sort(Comparator.comparingLong(CheckpointDirectory::number).reversed());
    runs.add(root);
    return runs;
  }

  /** Returns the checkpoints of each model in the newest run that has any, newest first. */
  static List<List<Path>> newestRun(Path root) throws IOException {
    for (Path run : runs(root)) {
      if (!models(run, true).isEmpty()) {
        return models(run, false);
      }
    }
    return List.of();
  }

  /**
   * Returns the checkpoints of each model in a run, newest first.
   *
   * @param skipBegun whether to skip checkpoints that a killed job only began
   */
  private static List<List<Path>> models(Path run, boolean skipBegun) throws IOException {
    List<List<Path>> models = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(run, Files::isDirectory)) {
      for (Path model : all) {
        List<Path> numbered;
        try {
          numbered = new ArrayList<>(numbered(model));
        } catch (AccessDeniedException e) {
          continue; // Such as lost+found at the root of a file system.
        }
        if (skipBegun) {
          for (Path checkpoint : List.copyOf(numbered)) {
            if (isBegun(checkpoint)) {
              numbered.remove(checkpoint);
            }
          }
        }
        if (!numbered.isEmpty()) {
          models.add(numbered);
        }
      }
    }
    return models;
  }

  /** Returns the number in the name of a run or checkpoint. */
  private static long number(Path directory) {
    return Long.parseLong(directory.getFileName().toString().replace("run.", ""));
  }

  /**
   * Returns the file that marks the agent's own checkpoints; directories without it are neither
   * counted nor deleted.
   */
  private static Path mark(Path checkpoint) {
    return checkpoint.resolve(SideFile.DIRECTORY).resolve("checkpoint");
  }

  /** Returns the {@link ModelFiles#loads} of the checkpoint's job; null if unknown. */
  static @Nullable String loads(Path checkpoint) throws IOException {
    String text = SideFile.text(mark(checkpoint)).strip();
    return text.startsWith(LOADED.strip()) ? text.substring(LOADED.strip().length()).strip() : null;
  }

  /** Whether a directory is one of the agent's own checkpoints. */
  static boolean isCheckpoint(Path checkpoint) {
    return Files.isRegularFile(mark(checkpoint), LinkOption.NOFOLLOW_LINKS);
  }

  /** Whether a checkpoint contains only the files that the agent writes before the model. */
  private static boolean isBegun(Path checkpoint) throws IOException {
    try (Stream<Path> all = Files.list(checkpoint)) {
      return all.allMatch(file -> file.getFileName().toString().equals(SideFile.DIRECTORY));
    }
  }

  /** Returns the checkpoints of a model, the newest first. */
  static List<Path> numbered(Path path) throws IOException {
    try (Stream<Path> files = Files.list(path)) {
      return files
          .filter(
              file -> NUMBER.matcher(file.getFileName().toString()).matches() && isCheckpoint(file))
          .sorted(Comparator.<Path>comparingLong(CheckpointDirectory::number).reversed())
          .toList();
    }
  }

  /**
   * Creates the directory of a new checkpoint.
   *
   * @param loads {@link ModelFiles#loads} of the job
   */
  Path next(String loads) throws IOException {
    Files.createDirectories(path); // The user may have removed it.
    while (true) {
      try {
        Path created =
            Files.createDirectory(path.resolve(String.format(Locale.ROOT, "%06d", ++number)));
        Files.createDirectory(created.resolve(SideFile.DIRECTORY));
        try (RandomAccessFile mark = OwnFiles.create(mark(created))) {
          mark.write((LOADED + loads + "\n").getBytes(StandardCharsets.US_ASCII));
        }
        return created;
      } catch (FileAlreadyExistsException e) {
        // Try the next number.
      }
    }
  }

  /**
   * Reads back the newest complete checkpoint, links it, and drops older ones: complete ones beyond
   * the newest {@code keep}, and all incomplete ones. A checkpoint that cannot be deleted stays
   * until the next call. Returns false if the link cannot be made, as on a file system without
   * symbolic links.
   */
  boolean retain(int keep, OnceLog log) {
    boolean linked = true;
    int complete = 0;
    for (Path checkpoint : numberedOrNone()) {
      try {
        boolean isComplete = SideFile.hasCompleteModel(checkpoint);
        if (isComplete && ++complete == 1) {
          if (!(SideFile.isVerified(checkpoint) && StateFile.isIntact(checkpoint))) {
            log.once(
                "read",
                "checkpoint.every: "
                    + checkpoint
                    + " does not read back as it was written; nothing older is deleted. Is the"
                    + " disk faulty?");
            break;
          }
          linked = link(checkpoint);
        }
        if (complete > (isComplete ? keep : 0)) {
          drop(checkpoint, isComplete, log);
        }
      } catch (IOException e) {
        // The next call tries again.
      }
    }
    return linked;
  }

  /** Deletes or renames a checkpoint that is no longer needed. */
  private void drop(Path checkpoint, boolean isComplete, OnceLog log) throws IOException {
    if (Files.isSymbolicLink(checkpoint)) {
      return; // Somebody else's link, whose target may belong to another run.
    }
    if (isComplete ? isOwn(checkpoint) : isBegun(checkpoint)) {
      if (!deleteOwn(checkpoint)) {
        log.once(
            "foreign",
            "checkpoint.every: "
                + checkpoint
                + " has files that the agent did not write; these are not deleted.");
      }
      return;
    }
    String name = checkpoint.getFileName() + KEPT;
    Path kept = path.resolve(name);
    // An earlier checkpoint may have had the same number.
    for (int i = 2; Files.exists(kept, LinkOption.NOFOLLOW_LINKS); i++) {
      kept = path.resolve(name + "-" + i);
    }
    Files.move(checkpoint, kept);
    log.once(
        "checkpoint.every: "
            + checkpoint
            + " has a model that the agent did not write; the checkpoint is kept as "
            + kept.getFileName()
            + ".");
  }

  /**
   * Whether the checkpoint has exactly one model, with the bytes that the agent wrote. An equal
   * length would prove nothing: weights of the same shape have the same length.
   */
  private static boolean isOwn(Path checkpoint) throws IOException {
    List<Path> models = SideFile.models(checkpoint);
    SideFile known = models.size() == 1 ? SideFile.read(models.get(0)) : null;
    return known != null && (known.isUntouched(models.get(0)) || known.matches(models.get(0)));
  }

  private List<Path> numberedOrNone() {
    try {
      return numbered(path);
    } catch (IOException e) {
      return List.of();
    }
  }

  private boolean link(Path newest) {
    Path latest = path.resolve(LATEST);
    if (Files.exists(latest, LinkOption.NOFOLLOW_LINKS) && !Files.isSymbolicLink(latest)) {
      return false; // Not the agent's.
    }
    try {
      Path next = path.resolve(SideFile.DIRECTORY + "-" + LATEST);
      if (Files.isSymbolicLink(next)) { // Left by a killed job.
        Files.delete(next);
      }
      Files.createSymbolicLink(next, newest.getFileName());
      ModelFile.move(next, latest);
      return true;
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  /** Deletes the agent's files, the mark last; returns true if there were no other files. */
  private static boolean deleteOwn(Path checkpoint) throws IOException {
    Path own = checkpoint.resolve(SideFile.DIRECTORY);
    for (Path model : SideFile.models(checkpoint)) {
      Files.deleteIfExists(model);
      Files.deleteIfExists(SideFile.of(model));
    }
    try (DirectoryStream<Path> leftovers =
        Files.newDirectoryStream(own, "*" + ModelFile.INCOMPLETE)) {
      for (Path file : leftovers) {
        Files.delete(file);
      }
    }
    Files.deleteIfExists(StateFile.of(checkpoint));
    Files.delete(mark(checkpoint));
    try {
      Files.delete(own);
      Files.delete(checkpoint);
      return true;
    } catch (DirectoryNotEmptyException e) {
      return false;
    }
  }

  /** Deletes a checkpoint that this job has just begun and could not write. */
  static void delete(Path checkpoint) throws IOException {
    try (Stream<Path> all = Files.walk(checkpoint)) {
      for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (UncheckedIOException e) {
      throw new IOException(e);
    }
  }
}
