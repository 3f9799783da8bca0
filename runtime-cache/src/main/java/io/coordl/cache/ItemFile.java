package io.coordl.cache;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A regular file as it was when the program opened it. Reads by {@link RandomAccessFile}: a channel
 * would be closed under the program when its thread is interrupted.
 *
 * @param path absolute
 * @param identity device and inode, so that growing is told from being replaced; null if unknown
 */
record ItemFile(String path, long size, long modifiedNanos, @Nullable Object identity) {
  /** The file at {@code absolutePath}, null if it is not regular, missing or not readable. */
  static @Nullable ItemFile of(String absolutePath) {
    if (absolutePath.startsWith("/proc/") || absolutePath.startsWith("/sys/")) {
      return null;
    }
    File file = new File(absolutePath);
    BasicFileAttributes attributes;
    try {
      attributes = attributes(file.toPath());
    } catch (InvalidPathException e) {
      return null;
    }
    if (attributes == null || !attributes.isRegularFile() || !file.canRead()) {
      return null;
    }
    return new ItemFile(
        absolutePath, attributes.size(), modifiedNanos(attributes), attributes.fileKey());
  }

  /** Whether the path still names a file of this size and modification time. */
  boolean unchanged() {
    BasicFileAttributes now = attributes(Path.of(path));
    return now != null && now.size() == size && modifiedNanos(now) == modifiedNanos;
  }

  /** Whether it is this very file, not another of the name, that is longer now. */
  boolean grown() {
    BasicFileAttributes now = attributes(Path.of(path));
    return now != null && now.size() > size && Objects.equals(now.fileKey(), identity);
  }

  /** Whether the path still names this very file, whatever its content. */
  boolean same() {
    BasicFileAttributes now = attributes(Path.of(path));
    return now != null && Objects.equals(now.fileKey(), identity);
  }

  ItemKey key() {
    return key(ItemKey.WHOLE);
  }

  ItemKey key(long block) {
    return ItemKey.of(path, size, modifiedNanos, block);
  }

  /** Reads the whole file; false if it is not as it was opened, before or after. */
  boolean readWhole(byte[] target, int offset) throws IOException {
    try (RandomAccessFile storage = new RandomAccessFile(path, "r")) {
      return readFully(storage, target, offset, (int) size) && storage.read() < 0 && unchanged();
    }
  }

  /** Fills {@code length} bytes from where the storage stands; false if it ends before. */
  static boolean readFully(RandomAccessFile storage, byte[] target, int offset, int length)
      throws IOException {
    int done = 0;
    while (done < length) {
      int count = storage.read(target, offset + done, length - done);
      if (count < 0) {
        return false;
      }
      done += count;
    }
    return true;
  }

  private static @Nullable BasicFileAttributes attributes(Path path) {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class);
    } catch (IOException e) {
      return null;
    }
  }

  private static long modifiedNanos(BasicFileAttributes attributes) {
    return attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS);
  }
}
