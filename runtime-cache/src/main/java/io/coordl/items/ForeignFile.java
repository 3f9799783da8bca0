package io.coordl.items;

import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A file of a non-default {@code FileSystem}, read as the program would; its storage is unknown.
 */
public record ForeignFile(Path path, String location, long size, long modifiedNanos)
    implements StoredFile {
  /**
   * Returns the file at {@code path}; null if it is not regular or its attributes cannot be read.
   */
  public static @Nullable ForeignFile of(Path path) {
    try {
      BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
      return attributes.isRegularFile()
          ? new ForeignFile(
              path,
              path.toUri().toString(),
              attributes.size(),
              attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS))
          : null;
    } catch (IOException | RuntimeException e) {
      return null; // The program's own call reports the error.
    }
  }

  @Override
  public ItemKey key() {
    return ItemKey.of(location, size, modifiedNanos, ItemKey.WHOLE);
  }

  /** Reads the whole file; false if its size has changed. */
  public boolean read(byte[] target, int offset) throws IOException {
    try (InputStream stream = Files.newInputStream(path)) {
      return stream.readNBytes(target, offset, (int) size) == size && stream.read() < 0;
    }
  }

  /** Always false: another file system cannot prove that a file is unchanged. */
  @Override
  public boolean unchanged() {
    return false;
  }

  @Override
  public boolean grown() {
    return false;
  }

  @Override
  public RandomAccessFile reopen(ByteBuffer content) throws IOException {
    return ItemFile.copy(content);
  }
}
