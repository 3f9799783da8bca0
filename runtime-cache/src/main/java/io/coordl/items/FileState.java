package io.coordl.items;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a file, which changes when the file is rewritten or replaced. Stores compare it
 * to detect changes. It holds only numbers, because it is checked for each file of each batch.
 *
 * @param size size in bytes; -1 if there is no such file, or it is a device, a pipe or a directory
 * @param modifiedNanos modification time in nanoseconds since 1970; any user can set it
 * @param changedNanos when the inode last changed, which no user can set; if the file system does
 *     not report it, when the file was modified
 * @param device number of the device that holds the file
 * @param inode inode number, which may be reused; the creation time if there is none
 */
public record FileState(long size, long modifiedNanos, long changedNanos, long device, long inode) {
  /** Packages of {@code java.base} that must be open to {@link StatCalls}. */
  public static final List<String> PACKAGES =
      List.of(StatCalls.FILES, StatCalls.CHANNELS, "java.io");

  private static final String ATTRIBUTES = "unix:size,lastModifiedTime,ctime,dev,ino,isRegularFile";
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  static final FileState MISSING = new FileState(-1, 0, 0, 0, 0);

  /** Returns the current state of the file. Never throws. */
  public static FileState of(String path) {
    return of(path, Mounts.HERE);
  }

  public static FileState of(String path, Mounts mounts) {
    try {
      return of(Path.of(path), mounts);
    } catch (InvalidPathException e) {
      return MISSING;
    }
  }

  /** Returns the current state of the file. Never throws. */
  public static FileState of(Path path) {
    return of(path, Mounts.HERE);
  }

  /**
   * Returns the current state of the file. On network file systems, whose clients cache attributes,
   * reads them from a descriptor: opening a file makes the client revalidate with the server.
   */
  public static FileState of(Path path, Mounts mounts) {
    StatCalls jdk = StatCalls.usable();
    FileState state = jdk != null ? jdk.of(path) : viewed(path);
    if (!state.isFile() || !mounts.isNetwork(state.device)) {
      return state;
    }
    try (RandomAccessFile opened = new RandomAccessFile(path.toString(), "r")) {
      // Opening has revalidated the attributes.
      return jdk != null ? jdk.of(opened.getFD()) : viewed(path);
    } catch (IOException e) {
      return MISSING; // The program's own call reports the error.
    }
  }

  /** Whether the state of an open file can be read, not only the state of the file at its path. */
  public static boolean canStatDescriptors() {
    return StatCalls.usable() != null;
  }

  /**
   * Returns the state of the open file, even if its path names another file now; if that cannot be
   * read, of the file at that path. Never throws.
   *
   * @param path of the file
   */
  public static FileState of(FileDescriptor opened, String path) {
    StatCalls jdk = StatCalls.usable();
    return jdk != null ? jdk.of(opened) : of(path, Mounts.HERE);
  }

  /**
   * Returns the state of the file behind a JDK channel; {@link #MISSING} if that cannot be read.
   */
  public static FileState of(FileChannel opened) {
    StatCalls jdk = StatCalls.usable();
    return jdk == null ? MISSING : jdk.of(opened);
  }

  /**
   * Reads the JDK's public file attributes with the agent's permissions, because the program may
   * lack some.
   */
  @SuppressWarnings("removal") // JDK 17 has security managers.
  static FileState viewed(Path path) {
    SecurityManager guard = System.getSecurityManager();
    if (guard == null) {
      return readView(path);
    }
    try {
      guard.checkRead(path.toString());
    } catch (SecurityException e) {
      return MISSING; // The program's own call fails too.
    }
    PrivilegedAction<FileState> reading = () -> readView(path);
    return AccessController.doPrivileged(reading);
  }

  private static FileState readView(Path path) {
    try {
      return read(path, ATTRIBUTES);
    } catch (UnsupportedOperationException e) {
      return basic(path);
    } catch (IOException | RuntimeException e) {
      return MISSING;
    }
  }

  /**
   * Reads the state on a file system that reports less, as on Windows: the creation time replaces
   * the inode, the modification time the change time, and the device is 0.
   */
  static FileState basic(Path path) {
    try {
      return read(path, "size,lastModifiedTime,creationTime,isRegularFile");
    } catch (IOException | RuntimeException e) {
      return MISSING;
    }
  }

  private static FileState read(Path path, String attributes) throws IOException {
    Map<String, Object> now = Files.readAttributes(path, attributes);
    if (!Boolean.TRUE.equals(now.get("isRegularFile"))) {
      return MISSING; // Its content does not depend on these attributes.
    }
    long size = number(now.get("size"));
    long modified = nanos(now.get("lastModifiedTime"));
    return now.containsKey("ino")
        ? new FileState(
            size, modified, nanos(now.get("ctime")), number(now.get("dev")), number(now.get("ino")))
        : new FileState(size, modified, modified, 0, nanos(now.get("creationTime")));
  }

  private static long number(@Nullable Object value) {
    return (Long) Objects.requireNonNull(value);
  }

  private static long nanos(@Nullable Object time) {
    return ((FileTime) Objects.requireNonNull(time)).to(TimeUnit.NANOSECONDS);
  }

  /** Whether this is the state of a regular file. */
  public boolean isFile() {
    return size >= 0;
  }

  /**
   * Whether the other state differs at most in the change time, as after {@code chmod}, a hard link
   * or a rename. The bytes may be unchanged; only reading them shows that.
   */
  public boolean isLike(FileState other) {
    return isSameInode(other) && size == other.size && modifiedNanos == other.modifiedNanos;
  }

  boolean isSameInode(FileState other) {
    return device == other.device && inode == other.inode;
  }

  /**
   * Whether any later change would be visible. File system clocks are coarse, and a file of size 0
   * may be generated when read.
   */
  public boolean isSettled() {
    if (size <= 0) {
      return false;
    }
    long tick =
        changedNanos % SECOND == 0
            ? 2 * SECOND
            : SECOND / 50; // Some clocks tick every second or two.
    return System.currentTimeMillis() * 1_000_000 - changedNanos > tick;
  }

  /** Whether the kernel generates the content on each read, as below {@code /proc}. */
  public boolean isPseudo() {
    return Mounts.HERE.isPseudo(device);
  }

  /** Returns all fields, for storage. */
  public List<Long> numbers() {
    return List.of(size, modifiedNanos, changedNanos, device, inode);
  }

  /** Restores the result of {@link #numbers}. */
  public static FileState of(List<Long> numbers) {
    return new FileState(
        numbers.get(0), numbers.get(1), numbers.get(2), numbers.get(3), numbers.get(4));
  }

  /** Returns a 64-bit hash of all fields except the change time. */
  public long checksumOfLike() {
    return ItemKey.of("", size, modifiedNanos, ItemKey.WHOLE).with(device, inode).low();
  }

  /** Returns a 64-bit hash of all fields. */
  public long checksum() {
    return ItemKey.of("", size, modifiedNanos, changedNanos).with(device, inode).low();
  }
}
