package io.coordl.files;

import io.coordl.live.Owner;
import io.coordl.shared.Closeables;
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
 * Opens files for writing. A file is a regular one of this user, and no link is followed to it. It
 * is opened for both directions, which does not wait for the other end of a FIFO, and never
 * truncated. Whoever may write into the directory can put something else in its place at any
 * moment, so the name is looked at before and after; unless both saw one file, the open fails.
 *
 * <p>Storage that hangs still holds up the caller: the training thread and the end of the JVM leave
 * these calls to a thread of the agent. Any thread.
 */
public final class OwnFiles {
  private OwnFiles() {}

  /** Makes a file, which must not be there, for reading and writing. No channel is made. */
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

  /** Opens a file that is there, for reading and writing. No channel is made. */
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

  /** Opens a file, making it if it is not there, for locks: a thread of the agent alone does so. */
  public static FileChannel openOrCreate(Path path) throws IOException {
    try {
      Files.createFile(path);
    } catch (FileAlreadyExistsException e) {
      // Then it may be opened.
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

  /** Makes a directory unless it is there; throws if something else is, or a link to one. */
  public static Path directory(Path path) throws IOException {
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        throw new IOException(path + " is no directory, or a link to one");
      }
      Files.createDirectories(path);
    }
    return path;
  }

  /** Throws if a link of somebody else leads there: those of the user, or of the system, may. */
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

  /** Tells a regular file of this user from others; throws if it is none. */
  private static Object identity(Path path) throws IOException {
    BasicFileAttributes file =
        Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!file.isRegularFile()) {
      throw new IOException(path + " is no regular file");
    }
    if (!isOwn(path)) {
      throw new IOException(path + " belongs to another user");
    }
    return Objects.requireNonNullElse(file.fileKey(), file.creationTime());
  }

  /**
   * Whether a file is of this user, as the file system tells: it may have another name for root,
   * which a new file shows. Where it has no numbers for users, files are not told apart.
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
