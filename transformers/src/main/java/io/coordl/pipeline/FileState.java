package io.coordl.pipeline;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What differs when a file is rewritten or replaced: numbers only, since it is looked at for each
 * file of each batch.
 *
 * @param size in bytes; -1 if there is no such file, or it is a device, a pipe or a directory
 * @param modifiedNanos since 1970
 * @param changedNanos when the inode last changed, which nobody can set; where that is not told,
 *     when the file was modified
 * @param device where it lies
 * @param inode which may be taken again; where there is none, when the file was made
 */
public record FileState(long size, long modifiedNanos, long changedNanos, long device, long inode) {
  private static final String ATTRIBUTES = "unix:size,lastModifiedTime,ctime,dev,ino,isRegularFile";
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final FileState MISSING = new FileState(-1, 0, 0, 0, 0);

  /** The file as it is now. Never throws. */
  public static FileState of(String path) {
    try {
      return read(Path.of(path), ATTRIBUTES);
    } catch (UnsupportedOperationException e) {
      return basic(Path.of(path));
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
  List<Long> numbers() {
    return List.of(size, modifiedNanos, changedNanos, device, inode);
  }

  /** 64 bits of it. */
  public long checksum() {
    return Checksum.of(size, modifiedNanos, changedNanos, device, inode);
  }
}
