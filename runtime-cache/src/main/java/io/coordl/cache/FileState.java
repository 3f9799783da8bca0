package io.coordl.cache;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a file: what differs when it is rewritten or replaced. All stores compare this
 * and nothing else. Numbers only, since it is looked at for each file of each batch.
 *
 * @param size in bytes; -1 if there is no such file, or it is a device, a pipe or a directory
 * @param modifiedNanos since 1970; anybody can set it
 * @param changedNanos when the inode last changed, which nobody can set; where that is not told,
 *     when the file was modified
 * @param device where it lies
 * @param inode which may be taken again; where there is none, when the file was made
 */
public record FileState(long size, long modifiedNanos, long changedNanos, long device, long inode) {
  /** Packages of {@code java.base} that are to be open for {@link StatCalls}. */
  public static final List<String> PACKAGES = List.of(StatCalls.FILES, "java.io");

  private static final String ATTRIBUTES = "unix:size,lastModifiedTime,ctime,dev,ino,isRegularFile";
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  static final FileState MISSING = new FileState(-1, 0, 0, 0, 0);

  /** The file as it is now. Never throws. */
  public static FileState of(String path) {
    return of(path, Mounts.HERE);
  }

  static FileState of(String path, Mounts mounts) {
    try {
      return of(Path.of(path), mounts);
    } catch (InvalidPathException e) {
      return MISSING;
    }
  }

  /** The file as it is now. Never throws. */
  public static FileState of(Path path) {
    return of(path, Mounts.HERE);
  }

  /**
   * The file as it is now. Where a client of a file server caches attributes, they are asked of a
   * descriptor: to open a file is to ask the server, for the program as for us.
   */
  static FileState of(Path path, Mounts mounts) {
    StatCalls jdk = StatCalls.usable();
    FileState state = jdk != null ? jdk.of(path) : viewed(path);
    if (!state.isFile() || !mounts.asksServer(state.device)) {
      return state;
    }
    try (RandomAccessFile opened = new RandomAccessFile(path.toString(), "r")) {
      return jdk != null ? jdk.of(opened.getFD()) : viewed(path); // Not asked again.
    } catch (IOException e) {
      return MISSING; // The program's own call says what is wrong.
    }
  }

  /** Whether the state of an open file can be told, not just that of whatever has its name. */
  static boolean tellsOpened() {
    return StatCalls.usable() != null;
  }

  /**
   * The file that is open, whatever its name means by now; where that cannot be told, the file of
   * that name. Never throws.
   *
   * @param path of the file
   */
  public static FileState of(FileDescriptor opened, String path) {
    StatCalls jdk = StatCalls.usable();
    return jdk != null ? jdk.of(opened) : of(path, Mounts.HERE);
  }

  /** By the attributes that the JDK shows to everybody. */
  static FileState viewed(Path path) {
    try {
      return read(path, ATTRIBUTES);
    } catch (UnsupportedOperationException e) {
      return basic(path);
    } catch (IOException | RuntimeException e) {
      return MISSING;
    }
  }

  /** On a file system that tells less, as that of Windows: when the file was made, of the rest. */
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
      return MISSING; // What it gives does not follow from what differs.
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

  /** Whether there is such a file. */
  public boolean isFile() {
    return size >= 0;
  }

  /**
   * Whether the other differs at most in the change time, as after {@code chmod}, a hard link or a
   * rename: its bytes may be the same, which only reading them tells.
   */
  public boolean isLike(FileState other) {
    return isSameInode(other) && size == other.size && modifiedNanos == other.modifiedNanos;
  }

  boolean isSameInode(FileState other) {
    return device == other.device && inode == other.inode;
  }

  /**
   * Whether another change from now on would show: clocks of file systems tick, and what has no
   * size is made as it is read.
   */
  public boolean isSettled() {
    if (size <= 0) {
      return false;
    }
    long tick =
        changedNanos % SECOND == 0 ? 2 * SECOND : SECOND / 50; // Some count seconds, or two.
    return System.currentTimeMillis() * 1_000_000 - changedNanos > tick;
  }

  /** All of it, to be kept. */
  public List<Long> numbers() {
    return List.of(size, modifiedNanos, changedNanos, device, inode);
  }

  /** What {@link #numbers} gave. */
  public static FileState of(List<Long> numbers) {
    return new FileState(
        numbers.get(0), numbers.get(1), numbers.get(2), numbers.get(3), numbers.get(4));
  }

  /** 64 bits of all of it but the change time. */
  public long checksumOfLike() {
    return ItemKey.of("", size, modifiedNanos, ItemKey.WHOLE).with(device, inode).low();
  }

  /** 64 bits of it. */
  public long checksum() {
    return ItemKey.of("", size, modifiedNanos, changedNanos).with(device, inode).low();
  }
}
