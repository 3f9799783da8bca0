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
 * @param name what it is known by to others; null for its path and modification time
 * @param names where that comes from
 */
record ItemFile(
    String path,
    long size,
    long modifiedNanos,
    @Nullable Object identity,
    @Nullable ItemName name,
    ItemNames names) {
  /** As below; known by its absolute path. */
  static @Nullable ItemFile of(String absolutePath) {
    return of(absolutePath, ItemNames.PATHS);
  }

  /** The file at {@code absolutePath}, null if it is not regular, missing or not readable. */
  static @Nullable ItemFile of(String absolutePath, ItemNames names) {
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
    long size = attributes.size();
    long modified = modifiedNanos(attributes);
    ItemName name = names.of(absolutePath, size, modified);
    return new ItemFile(absolutePath, size, modified, attributes.fileKey(), name, names);
  }

  /** Whether the path still names a file of this size and modification time, known as this one. */
  boolean unchanged() {
    BasicFileAttributes now = attributes(Path.of(path));
    return now != null
        && now.size() == size
        && modifiedNanos(now) == modifiedNanos
        && (name == null || name.equals(names.of(path, size, modifiedNanos)));
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
    return name == null
        ? ItemKey.of(path, size, modifiedNanos, block)
        : ItemKey.of(name.text(), size, name.version(), block);
  }

  /** Whether the whole file's bytes are what it is known by; said, and remembered, if not. */
  boolean isNamed(byte[] bytes, int offset) {
    if (name == null || name.listed() == null || name.listed().isOf(bytes, offset, (int) size)) {
      return true;
    }
    names.isWrong(name, path);
    return false;
  }

  /** Reads the whole file; false if it is not as it was opened, or not what it is known by. */
  boolean readWhole(byte[] target, int offset) throws IOException {
    try (RandomAccessFile storage = new RandomAccessFile(path, "r")) {
      return readFully(storage, target, offset, (int) size)
          && storage.read() < 0
          && unchanged()
          && isNamed(target, offset);
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
