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
 * A model file while it is written. Until {@link #publish} moves it into place, it is locked and
 * lies in a directory {@code .coordl} beside its place, where programs that list their models do
 * not look. Used by one thread at a time.
 */
final class ModelFile implements Closeable {
  static final String INCOMPLETE = ".incomplete";

  private static final AtomicInteger COUNT = new AtomicInteger();

  /**
   * Names of this job's files, whatever links and mounts lead there: opening and closing one of
   * them would release its lock.
   */
  private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

  private final Path target;
  private final Path directory;
  private final Path incomplete;
  private final MessageDigest digest = SideFile.sha256();
  private final Pieces pieces;
  private final OutputStream stream;
  private final @Nullable State before;
  private boolean published;

  static final class LeftAloneException extends Exception {
    private static final long serialVersionUID = 1;

    /** A reason; empty if the library itself will report it. */
    LeftAloneException(String reason) {
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

  /** A new file in {@code directory}, created by its first byte or by {@link #open}. */
  private ModelFile(Path target, Path directory, @Nullable State before) {
    this.target = target;
    this.before = before;
    String number = Long.toHexString(System.nanoTime() + COUNT.incrementAndGet());
    String name = Long.toHexString(ProcessHandle.current().pid()) + "-" + number + INCOMPLETE;
    this.directory = directory;
    this.incomplete = directory.resolve(name);
    pieces = new Pieces(this::make, digest);
    stream = new BufferedOutputStream(pieces, 1 << 16);
  }

  private static ModelFile open(Path target, Path directory) throws IOException {
    ModelFile file = new ModelFile(target, directory, State.of(target));
    file.pieces.file();
    return file;
  }

  /**
   * Another job's {@link #sweep} leaves it alone as long as it is open. Its name is never reused,
   * so a dead job's file can be deleted by name. Like the libraries, it writes without a channel,
   * so an interrupt of the program's thread does not close it.
   */
  private FileOutputStream make() throws IOException {
    OwnFiles.directory(directory);
    OWN.add(incomplete.getFileName());
    FileOutputStream out = null;
    try {
      out = new FileOutputStream(OwnFiles.create(incomplete).getFD());
      if (out.getChannel().tryLock() == null || !Files.exists(incomplete)) {
        throw new IOException(incomplete + " was swept away");
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
      file.pieces.file().write(text.getBytes(StandardCharsets.UTF_8));
      file.pieces.file().getFD().sync();
      move(file.incomplete, target);
      force(target.getParent()); // Some file systems make later moves durable before earlier ones.
    }
  }

  /**
   * A file in a directory that the agent created and that nobody else writes to. Does not touch
   * storage before the first byte is written.
   */
  static ModelFile later(Path target) {
    return new ModelFile(target, SideFile.directory(target), null);
  }

  /**
   * A file that will take the place of {@code path}; throws if the result would differ from what
   * the library does: for links, for other than regular files, and for files of another user.
   */
  static ModelFile create(Path path) throws LeftAloneException {
    Path parent = path.toAbsolutePath().getParent();
    if (path.getFileSystem() != FileSystems.getDefault()
        || path.getFileName() == null
        || parent == null
        || !Files.isDirectory(parent)) {
      throw new LeftAloneException("");
    }
    if (Files.isSymbolicLink(path) && !Files.exists(path)) {
      throw new LeftAloneException("it is a link to nothing");
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
        file.becomeLike(old);
      }
      return file;
    } catch (IOException | UnsupportedOperationException e) {
      throw new LeftAloneException(
          "no file can be made beside it ("
              + (e.getClass() == IOException.class ? e.getMessage() : e.getClass().getSimpleName())
              + ")");
    }
  }

  /** The real path of an existing or future file, with links resolved. */
  static Path real(Path file) throws IOException {
    Path absolute = file.toAbsolutePath();
    Path parent = absolute.getParent();
    return parent == null || Files.exists(file)
        ? absolute.toRealPath()
        : parent.toRealPath().resolve(absolute.getFileName());
  }

  private static void check(Path target, PosixFileAttributes old)
      throws LeftAloneException, IOException {
    if (!old.isRegularFile() || !Files.isWritable(target)) {
      throw new LeftAloneException("");
    }
    if (((Number) Files.getAttribute(target, "unix:nlink")).intValue() > 1) {
      throw new LeftAloneException("it has other names (hard links)");
    }
    if (!OwnFiles.isOwn(target)) {
      throw new LeftAloneException("it belongs to another user");
    }
    if (Files.getFileStore(target).getUsableSpace() < old.size()) {
      throw new LeftAloneException("the disk has no room for a second one beside it");
    }
  }

  /** Called before the first byte is written. */
  private void becomeLike(PosixFileAttributes old) throws IOException {
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

  /** The stream for its content; closing it only flushes. */
  public OutputStream stream() {
    return stream;
  }

  Pieces pieces() {
    return pieces;
  }

  /** Whether {@link #publish} has moved it into place; otherwise the program's file stays. */
  boolean isPublished() {
    return published;
  }

  /**
   * Moves it into place, durably.
   *
   * @param late whether the program has continued since, and may have written there itself
   * @param moving monitor held while files are moved: model and side file belong together
   * @return what the user should know; empty if the model and its side file are in place
   * @throws IOException if that fails; the old file stays
   */
  String publish(boolean late, Object moving) throws IOException {
    stream.flush();
    pieces.file().getFD().sync();
    String sha256 = HexFormat.of().formatHex(digest.digest());
    synchronized (moving) {
      State now = State.of(target);
      if (late && !Objects.equals(before, now)) {
        return "checkpoint: "
            + target
            + " was written or removed by the program while the agent wrote it: that stays.";
      }
      boolean known = false;
      try {
        known = SideFile.write(target, incomplete, sha256);
      } catch (IOException e) {
        SideFile.forget(target); // The model matters more.
      }
      try {
        move(incomplete, target);
      } catch (FileSystemException e) { // A mount point of its own, in containers.
        known = false;
        SideFile.forget(target);
        writeInPlace();
      }
      published = true;
      force(target.getParent());
      return known
          ? ""
          : Text.format(
              "checkpoint: %s cannot be verified later: %s is not of the agent, or could not be"
                  + " written, or the file could not be replaced.",
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

  /** For a directory, the JDK offers only a channel, which interrupts close. */
  private static void force(@Nullable Path directory) {
    boolean interrupted = Thread.interrupted();
    while (directory != null && !forced(directory)) {
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Some file systems cannot force a directory; the file is then as durable as they make it. */
  private static boolean forced(Path directory) {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
      return true;
    } catch (ClosedByInterruptException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  /** Closes it; deletes it if it was not published. */
  @Override
  public void close() throws IOException {
    try {
      if (!published && pieces.isOpened()) {
        Files.deleteIfExists(incomplete);
      }
    } finally {
      try {
        pieces.end();
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
      boolean quiet = true;
      for (Path file : files) {
        if (file.toString().endsWith(INCOMPLETE)) {
          quiet &= isSwept(file);
        } else if (file.toString().endsWith(SideFile.SUFFIX)) {
          sides.add(file);
        }
      }
      for (Path side : sides) {
        if (quiet) { // Otherwise its model may be about to appear.
          SideFile.sweep(side, model);
        }
      }
    } catch (IOException e) {
      // Try again another time.
    }
  }

  /**
   * Deletes a dead job's file and returns whether it was one: a lock ends with its job, and no
   * other job knows the name.
   */
  private static boolean isSwept(Path file) throws IOException {
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
