package io.coordl.checkpoint;

import io.coordl.shared.Machine;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A model file while it is written: as {@code NAME.ID.incomplete}, locked, until {@link #publish}
 * puts it into place. Of one thread at a time.
 */
public final class ModelFile implements Closeable {
  private static final String INCOMPLETE = ".incomplete";
  private static final String LEFT_OVER = "*.[0-9a-f]*-[0-9a-f]*" + INCOMPLETE;

  /** What is not on the disk yet stays below this, lest the kernel stops others to write it. */
  private static final long UNFORCED = 64L << 20;

  private static final AtomicInteger COUNT = new AtomicInteger();

  /** In the name of a file, the job that writes it. */
  private static final Pattern WRITER =
      Pattern.compile("\\.([0-9a-f]{1,8})-[0-9a-f]+\\.incomplete$");

  private final Path target;
  private final String suffix;
  private final Path incomplete;
  private final FileOutputStream out;
  private final MessageDigest digest = SideFile.sha256();
  private final OutputStream stream = new BufferedOutputStream(new Pieces(), 1 << 16);
  private @Nullable Set<PosixFilePermission> permissions;
  private long bytes;
  private boolean published;

  /** Why a file is left to the library. */
  static final class LeftAloneException extends Exception {
    private static final long serialVersionUID = 1;

    /** A reason; empty where the library will say it itself. */
    LeftAloneException(String reason) {
      super(reason, null, false, false);
    }
  }

  private ModelFile(Path target, String suffix) throws IOException {
    this.target = target;
    this.suffix = suffix;
    this.incomplete = target.resolveSibling(target.getFileName() + suffix);
    this.out = createLocked(incomplete);
  }

  /**
   * A new file, which {@link #sweep} of another job leaves alone as long as it is open. Written as
   * the libraries write theirs: an interrupt of the program's thread does not close it.
   */
  static FileOutputStream createLocked(Path file) throws IOException {
    Files.createFile(file);
    FileOutputStream out = new FileOutputStream(file.toFile());
    if (out.getChannel().tryLock() == null || !Files.exists(file)) {
      out.close();
      throw new IOException(file + " was swept away");
    }
    return out;
  }

  /**
   * A file that will take the place of {@code path}.
   *
   * @throws LeftAloneException if that would not be what the library does: of links, of files that
   *     are none, or that belong to somebody else
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
      Path target =
          Files.exists(path) ? path.toRealPath() : parent.toRealPath().resolve(path.getFileName());
      Set<PosixFilePermission> permissions = null;
      if (Files.exists(target)) {
        PosixFileAttributes old = Files.readAttributes(target, PosixFileAttributes.class);
        permissions = old.permissions();
        check(target, old);
      }
      ModelFile file = new ModelFile(target, suffix());
      file.permissions = permissions;
      return file;
    } catch (IOException | UnsupportedOperationException e) {
      throw new LeftAloneException("no file can be made beside it (" + e + ")");
    }
  }

  /** Never used again, so whoever finds the name of a dead job's file can delete it by name. */
  static String suffix() {
    return "."
        + Long.toHexString(ProcessHandle.current().pid())
        + "-"
        + Long.toHexString(System.nanoTime() + COUNT.incrementAndGet())
        + INCOMPLETE;
  }

  private static void check(Path target, PosixFileAttributes old)
      throws LeftAloneException, IOException {
    if (!old.isRegularFile() || !Files.isWritable(target)) {
      throw new LeftAloneException("");
    }
    if (((Number) Files.getAttribute(target, "unix:nlink")).intValue() > 1) {
      throw new LeftAloneException("it has other names (hard links)");
    }
    if (((Number) Files.getAttribute(target, "unix:uid")).longValue() != Machine.user()) {
      throw new LeftAloneException("it belongs to another user");
    }
    if (Files.getFileStore(target).getUsableSpace() < old.size()) {
      throw new LeftAloneException("the disk has no room for a second one beside it");
    }
  }

  /** The file it will be. */
  public Path target() {
    return target;
  }

  /** Where its content goes; closing it does nothing more than {@link OutputStream#flush}. */
  public OutputStream stream() {
    return stream;
  }

  /** So far. */
  long bytes() {
    return bytes;
  }

  /**
   * Puts it into place, durably.
   *
   * @return whether it can be verified later: a file of somebody else has the side file's name
   * @throws IOException if it cannot be; what was there before is there still
   */
  boolean publish() throws IOException {
    stream.flush();
    Set<PosixFilePermission> old = permissions;
    if (old != null) {
      Files.setPosixFilePermissions(incomplete, old);
    }
    out.getFD().sync();
    String sha256 = HexFormat.of().formatHex(digest.digest());
    boolean known = SideFile.write(target, incomplete, sha256, suffix);
    move(incomplete, target);
    published = true;
    force(target.getParent());
    return known;
  }

  static void move(Path from, Path to) throws IOException {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (AtomicMoveNotSupportedException e) {
      throw new IOException(to + " cannot be replaced at once", e);
    }
  }

  /** Of a directory the JDK makes a channel and nothing else, which interrupts close. */
  private static void force(@Nullable Path directory) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (directory != null && !forced(directory)) {
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static boolean forced(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
      return true;
    } catch (ClosedByInterruptException e) {
      return false;
    }
  }

  /** Ends it; what was not published is deleted. */
  @Override
  public void close() throws IOException {
    try (out) {
      if (!published) {
        Files.deleteIfExists(incomplete);
      }
    }
  }

  /**
   * Removes what killed jobs have left in a directory, and what is said of models that are gone.
   */
  static void sweep(Path directory) {
    try {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, LEFT_OVER)) {
        for (Path file : files) {
          sweepFile(file);
        }
      }
      try (DirectoryStream<Path> files =
          Files.newDirectoryStream(directory, "*" + SideFile.SUFFIX)) {
        for (Path side : files) {
          Path model = SideFile.modelOf(side);
          if (!Files.exists(model, LinkOption.NOFOLLOW_LINKS)
              && !isBeingWritten(model)
              && SideFile.read(model) != null) {
            Files.deleteIfExists(side);
          }
        }
      }
    } catch (IOException e) {
      // Another time.
    }
  }

  /**
   * A lock ends with its job, and no other job knows the name. Files of jobs that are seen to live,
   * this one too, are not touched: to open and close one of its own would end its lock.
   */
  private static void sweepFile(Path file) throws IOException {
    Matcher writer = WRITER.matcher(file.getFileName().toString());
    if (!writer.find()
        || ProcessHandle.of(Long.parseLong(writer.group(1), 16)).isPresent()
        || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        || ((Number) Files.getAttribute(file, "unix:uid")).longValue() != Machine.user()) {
      return;
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      if (lock != null) {
        Files.deleteIfExists(file);
      }
    }
  }

  private static boolean isBeingWritten(Path model) throws IOException {
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(
            model.toAbsolutePath().getParent(),
            file -> {
              String name = file.getFileName().toString();
              return name.startsWith(model.getFileName() + ".") && name.endsWith(INCOMPLETE);
            })) {
      return files.iterator().hasNext();
    }
  }

  /** Counts, hashes and writes. */
  private final class Pieces extends OutputStream {
    private long forced;

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      out.write(source, offset, length);
      digest.update(source, offset, length);
      bytes += length;
      if (bytes - forced >= UNFORCED) {
        out.getFD().sync();
        forced = bytes;
      }
    }
  }
}
