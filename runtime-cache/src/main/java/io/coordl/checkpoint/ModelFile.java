package io.coordl.checkpoint;

import io.coordl.host.Closeables;
import io.coordl.host.OwnFiles;
import io.coordl.telemetry.advice.Text;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A model file that is being written. Until {@link #publish} moves it into place, it is locked and
 * stays in the directory {@code .coordl} beside its target, where programs that list their models
 * do not see it. Used by one thread at a time.
 */
final class ModelFile implements Closeable {
  static final String INCOMPLETE = ".incomplete";

  private static final AtomicInteger COUNTER = new AtomicInteger();

  /**
   * Names of this job's open files. A sweep must not open them: closing a file releases the lock
   * that this process holds on it. These are names, not paths, because links and mounts may give
   * one file several paths.
   */
  private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

  private final Path target;
  private final Path directory;
  private final Path incomplete;
  private final MessageDigest digest = SideFile.sha256();
  private final HashingStream hashing;
  private final OutputStream stream;
  private final @Nullable State before;
  private boolean published;

  static final class UnsupportedTargetException extends Exception {
    private static final long serialVersionUID = 1;

    /** Carries a reason for the user; empty if the library itself will report the problem. */
    UnsupportedTargetException(String reason) {
      super(reason, null, false, false);
    }
  }

  private record State(Object key, long size, long millis) {
    static @Nullable State of(Path file) throws IOException {
      if (!Files.exists(file)) {
        return null;
      }
      PosixFileAttributes now = Files.readAttributes(file, PosixFileAttributes.class);
      return new State(now.fileKey(), now.size(), now.lastModifiedTime().toMillis());
    }
  }

  /**
   * Creates nothing on disk: the first byte or {@link #open} creates the file in {@code directory}.
   */
  private ModelFile(Path target, Path directory, @Nullable State before) {
    this.target = target;
    this.before = before;
    String number = Long.toHexString(System.nanoTime() + COUNTER.incrementAndGet());
    String name = Long.toHexString(ProcessHandle.current().pid()) + "-" + number + INCOMPLETE;
    this.directory = directory;
    this.incomplete = directory.resolve(name);
    hashing = new HashingStream(this::createIncomplete, digest);
    stream = new BufferedOutputStream(hashing, 1 << 16);
  }

  private static ModelFile open(Path target, Path directory) throws IOException {
    ModelFile file = new ModelFile(target, directory, State.of(target));
    file.hashing.file();
    return file;
  }

  /**
   * Creates and locks the file. While it is open, a {@link #sweep} by another job skips it. Its
   * name is never reused, so the file of a dead job can be deleted by name. Returns a stream, as
   * the libraries use, not a channel, which an interrupt of the program's thread would close.
   */
  private FileOutputStream createIncomplete() throws IOException {
    OwnFiles.directory(directory);
    OWN.add(incomplete.getFileName());
    FileOutputStream out = null;
    try {
      out = new FileOutputStream(OwnFiles.create(incomplete).getFD());
      if (out.getChannel().tryLock() == null || !Files.exists(incomplete)) {
        throw new IOException(incomplete + " was deleted by another job");
      }
      return out;
    } catch (Throwable t) {
      Closeables.closeQuietly(out);
      Files.deleteIfExists(incomplete);
      OWN.remove(incomplete.getFileName());
      throw t;
    }
  }

  /** Durably replaces one of the agent's own files. */
  static void write(Path target, Path directory, String text) throws IOException {
    try (ModelFile file = open(target, directory)) {
      file.hashing.file().write(text.getBytes(StandardCharsets.UTF_8));
      file.hashing.file().getFD().sync();
      move(file.incomplete, target);
      force(target.getParent()); // Some file systems make later moves durable before earlier ones.
    }
  }

  /**
   * Returns a file in a directory that the agent created and that nobody else writes to. Touches no
   * storage before the first byte is written.
   */
  static ModelFile later(Path target) {
    return new ModelFile(target, SideFile.directory(target), null);
  }

  /**
   * Creates a file that will replace {@code path}.
   *
   * @throws UnsupportedTargetException if no file can be created beside the target, or if the
   *     result would differ from what the library writes, as for dangling links, hard links,
   *     special files and files of another user
   */
  static ModelFile create(Path path) throws UnsupportedTargetException {
    Path parent = path.toAbsolutePath().getParent();
    if (path.getFileSystem() != FileSystems.getDefault()
        || path.getFileName() == null
        || parent == null
        || !Files.isDirectory(parent)) {
      throw new UnsupportedTargetException("");
    }
    if (Files.isSymbolicLink(path) && !Files.exists(path)) {
      throw new UnsupportedTargetException("it is a dangling link");
    }
    try {
      Path target = real(path);
      PosixFileAttributes old =
          Files.exists(target) ? Files.readAttributes(target, PosixFileAttributes.class) : null;
      if (old != null) {
        check(target, old);
      }
      ModelFile file = open(target, SideFile.directory(target));
      if (old != null) {
        file.copyAttributes(old);
      }
      return file;
    } catch (IOException | UnsupportedOperationException e) {
      throw new UnsupportedTargetException(
          "no file can be created beside it ("
              + (e.getClass() == IOException.class ? e.getMessage() : e.getClass().getSimpleName())
              + ")");
    }
  }

  /** Returns the real path of an existing or future file, with links resolved. */
  static Path real(Path file) throws IOException {
    Path absolute = file.toAbsolutePath();
    Path parent = absolute.getParent();
    return parent == null || Files.exists(file)
        ? absolute.toRealPath()
        : parent.toRealPath().resolve(absolute.getFileName());
  }

  private static void check(Path target, PosixFileAttributes old)
      throws UnsupportedTargetException, IOException {
    if (!old.isRegularFile() || !Files.isWritable(target)) {
      throw new UnsupportedTargetException("");
    }
    if (((Number) Files.getAttribute(target, "unix:nlink")).intValue() > 1) {
      throw new UnsupportedTargetException("it has hard links");
    }
    if (!OwnFiles.isOwn(target)) {
      throw new UnsupportedTargetException("it belongs to another user");
    }
    if (Files.getFileStore(target).getUsableSpace() < old.size()) {
      throw new UnsupportedTargetException("the disk has no room for a second copy");
    }
  }

  /** Copies permissions and group; called before the first byte is written. */
  private void copyAttributes(PosixFileAttributes old) throws IOException {
    try {
      Files.setPosixFilePermissions(incomplete, old.permissions());
      PosixFileAttributeView view =
          Files.getFileAttributeView(incomplete, PosixFileAttributeView.class);
      if (!view.readAttributes().group().equals(old.group())) {
        view.setGroup(old.group());
      }
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  public Path target() {
    return target;
  }

  /** Returns the stream for the content; closing it only flushes. */
  public OutputStream stream() {
    return stream;
  }

  HashingStream hashing() {
    return hashing;
  }

  /** Whether {@link #publish} has replaced the target. */
  boolean isPublished() {
    return published;
  }

  /**
   * Moves the file into place, durably.
   *
   * @param late whether the program has continued since, and may have written the target itself
   * @param moving monitor held during the moves, so that model and side file change together
   * @return a warning for the user; empty if the model and its side file are in place
   * @throws IOException if the file cannot be published; the old file stays, unless it is a mount
   *     point that was already being overwritten
   */
  String publish(boolean late, Object moving) throws IOException {
    stream.flush();
    hashing.file().getFD().sync();
    String sha256 = HexFormat.of().formatHex(digest.digest());
    synchronized (moving) {
      State now = State.of(target);
      if (late && !Objects.equals(before, now)) {
        return "checkpoint: "
            + target
            + " was written or removed by the program while the agent wrote it; the agent's version"
            + " is discarded.";
      }
      boolean verifiable = false;
      try {
        verifiable = SideFile.write(target, incomplete, sha256);
      } catch (IOException e) {
        SideFile.forget(target); // The model matters more.
      }
      try {
        move(incomplete, target);
      } catch (FileSystemException e) { // In a container, the target may be a mount point.
        verifiable = false;
        SideFile.forget(target);
        writeInPlace();
      }
      published = true;
      force(target.getParent());
      return verifiable
          ? ""
          : Text.format(
              "checkpoint: %s cannot be verified later, because %s was not written by the agent, or"
                  + " because one of the two files could not be replaced.",
              target, SideFile.of(target).getFileName());
    }
  }

  private void writeInPlace() throws IOException {
    try (InputStream in = new FileInputStream(incomplete.toFile());
        RandomAccessFile opened = OwnFiles.open(target);
        FileOutputStream to = new FileOutputStream(opened.getFD())) {
      opened.setLength(0);
      in.transferTo(to);
      to.getFD().sync();
    }
    Files.delete(incomplete);
  }

  static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /**
   * Forces a directory to disk. The JDK offers only a channel for this; if an interrupt closes it,
   * this method tries again.
   */
  private static void force(@Nullable Path directory) {
    boolean interrupted = Thread.interrupted();
    while (directory != null && !tryForce(directory)) {
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns false if an interrupt closed the channel. Ignores file systems that cannot force a
   * directory.
   */
  private static boolean tryForce(Path directory) {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
      return true;
    } catch (ClosedByInterruptException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  /** Closes the file, and deletes it unless it was published. */
  @Override
  public void close() throws IOException {
    try {
      if (!published && hashing.isOpened()) {
        Files.deleteIfExists(incomplete);
      }
    } finally {
      try {
        hashing.end();
      } finally {
        OWN.remove(incomplete.getFileName());
      }
    }
  }

  /** Removes leftovers of killed jobs and side files of deleted models. */
  static void sweep(Path model) {
    Path directory = SideFile.directory(model);
    if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      List<Path> sides = new ArrayList<>();
      boolean idle = true;
      for (Path file : files) {
        if (file.toString().endsWith(INCOMPLETE)) {
          idle &= deleteIfAbandoned(file);
        } else if (file.toString().endsWith(SideFile.SUFFIX)) {
          sides.add(file);
        }
      }
      for (Path side : sides) {
        if (idle) { // Otherwise a save may be about to publish its model.
          SideFile.deleteIfOrphaned(side, model);
        }
      }
    } catch (IOException e) {
      // The next sweep tries again.
    }
  }

  /**
   * Deletes the file if its job is dead, and returns whether it did. A lock ends with its job, and
   * no other job uses the name.
   */
  private static boolean deleteIfAbandoned(Path file) throws IOException {
    if (OWN.contains(file.getFileName())
        || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        || !OwnFiles.isOwn(file)) {
      return false;
    }
    try (FileChannel channel = OwnFiles.open(file).getChannel();
        FileLock lock = channel.tryLock()) {
      return lock != null && Files.deleteIfExists(file);
    }
  }
}
