package io.coordl.host;

import io.coordl.telemetry.live.Owner;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.util.Objects;

/**
 * Opens files for writing. Each must be a regular file of this user, and no link to it is followed.
 * Files are opened for both reading and writing, which does not wait for the other end of a FIFO,
 * and are never truncated. Anyone who may write to the directory can replace the file at any
 * moment, so the name is checked before and after the open; unless both checks see the same file,
 * the open fails.
 *
 * <p>Hung storage blocks the caller; a thread that must not wait makes these calls through a {@link
 * StorageCall}. Thread-safe.
 */
public final class OwnFiles {
  private OwnFiles() {}

  /** Creates a file, which must not exist, for reading and writing, without a channel. */
  public static RandomAccessFile create(Path path, FileAttribute<?>... attributes)
      throws IOException {
    Files.createFile(path, attributes);
    RandomAccessFile file = open(path);
    if (file.length() > 0) {
      Closeables.closeQuietly(file);
      throw replaced(path);
    }
    return file;
  }

  /** Opens an existing file for reading and writing, without a channel. */
  public static RandomAccessFile open(Path path) throws IOException {
    Object seen = identity(path);
    RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
    try {
      requireSame(path, seen);
      return file;
    } catch (IOException | RuntimeException | Error e) {
      Closeables.closeQuietly(file);
      throw e;
    }
  }

  /** Opens a file for locking, creating it if needed; only for agent threads. */
  public static FileChannel openOrCreate(Path path) throws IOException {
    try {
      Files.createFile(path);
    } catch (FileAlreadyExistsException e) {
      // It exists, so try to open it.
    }
    Object seen = identity(path);
    FileChannel channel =
        FileChannel.open(
            path, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    try {
      requireSame(path, seen);
      return channel;
    } catch (IOException | RuntimeException | Error e) {
      Closeables.closeQuietly(channel);
      throw e;
    }
  }

  /**
   * Creates a directory unless it exists; throws if the path is something else, even a link to a
   * directory.
   */
  public static Path directory(Path path) throws IOException {
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        throw new IOException(path + " is not a directory, or is a link to one");
      }
      Files.createDirectories(path);
    }
    return path;
  }

  /**
   * Throws if the path contains another user's symbolic link; links of this user and of root are
   * allowed.
   */
  public static void requireOwnLinks(Path path) throws IOException {
    for (Path at = path; at != null; at = at.getParent()) {
      if (Files.isSymbolicLink(at)) {
        long owner = Owner.of(at);
        if (owner != 0 && owner != Owner.user()) {
          throw new IOException(at + " is a symbolic link of another user");
        }
      }
    }
  }

  private static void requireSame(Path path, Object seen) throws IOException {
    if (!identity(path).equals(seen)) {
      throw replaced(path);
    }
  }

  private static IOException replaced(Path path) {
    return new IOException("another file has taken the place of " + path);
  }

  /** Returns the identity of a regular file of this user; throws if it is not one. */
  private static Object identity(Path path) throws IOException {
    BasicFileAttributes file =
        Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!file.isRegularFile()) {
      throw new IOException(path + " is not a regular file");
    }
    if (!isOwn(path)) {
      throw new IOException(path + " belongs to another user");
    }
    return Objects.requireNonNullElse(file.fileKey(), file.creationTime());
  }

  /**
   * Whether a file belongs to this user, according to the file system. The file system may map root
   * to another user, which a newly created file reveals. Without numeric owners, every file is
   * treated as this user's.
   */
  public static boolean isOwn(Path path) throws IOException {
    if (!path.getFileSystem().supportedFileAttributeViews().contains("unix")) {
      return true;
    }
    long owner = Owner.of(path);
    if (owner == Owner.user()) {
      return true;
    }
    try {
      Path fresh = Files.createTempFile(path.toAbsolutePath().getParent(), ".coordl-", null);
      try {
        return Owner.of(fresh) == owner;
      } finally {
        Files.delete(fresh);
      }
    } catch (IOException e) {
      return false;
    }
  }
}
