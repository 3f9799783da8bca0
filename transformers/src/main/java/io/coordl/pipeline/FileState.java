package io.coordl.pipeline;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What differs when a file is rewritten or replaced.
 *
 * @param size in bytes; -1 if there is no such file, or it is a device, a pipe or a directory
 * @param modifiedNanos since 1970
 * @param identity device and inode, which may be taken again, and when the inode last changed,
 *     which nobody can set
 */
public record FileState(long size, long modifiedNanos, String identity) {
  private static final String ATTRIBUTES = "unix:size,lastModifiedTime,fileKey,ctime,isRegularFile";
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final FileState MISSING = new FileState(-1, 0, "");

  /** The file as it is now. Never throws. */
  public static FileState of(String path) {
    try {
      Map<String, Object> now = Files.readAttributes(Path.of(path), ATTRIBUTES);
      if (!Boolean.TRUE.equals(now.get("isRegularFile"))) {
        return MISSING; // What it gives does not follow from what differs.
      }
      return new FileState(
          (Long) Objects.requireNonNull(now.get("size")),
          nanos(now.get("lastModifiedTime")),
          now.get("fileKey") + " " + nanos(now.get("ctime")));
    } catch (UnsupportedOperationException e) {
      return basic(Path.of(path));
    } catch (IOException | RuntimeException e) {
      return MISSING;
    }
  }

  /** On a file system that tells less, as that of Windows: when the file was made, of the rest. */
  static FileState basic(Path path) {
    try {
      BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
      return now.isRegularFile()
          ? new FileState(
              now.size(), nanos(now.lastModifiedTime()), String.valueOf(nanos(now.creationTime())))
          : MISSING;
    } catch (IOException | RuntimeException e) {
      return MISSING;
    }
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
    int inode = identity.lastIndexOf(' ');
    long last = inode < 0 ? modifiedNanos : Long.parseLong(identity.substring(inode + 1));
    long tick = last % SECOND == 0 ? 2 * SECOND : SECOND / 50; // Some count seconds, or two.
    return System.currentTimeMillis() * 1_000_000 - last > tick;
  }

  boolean isMissing() {
    return size < 0;
  }
}
