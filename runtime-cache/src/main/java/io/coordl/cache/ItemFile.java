package io.coordl.cache;

import io.coordl.files.OwnFiles;
import java.io.EOFException;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A regular file as it was when the program opened it. Reads by {@link RandomAccessFile}: a channel
 * would be closed under the program when its thread is interrupted.
 *
 * @param path absolute
 * @param place the same, as the file system takes it
 * @param identity device and inode, so that growing is told from being replaced; null if unknown
 * @param name what it is known by to others; null for its path and modification time
 * @param names where that comes from
 */
record ItemFile(
    String path,
    Path place,
    long size,
    long modifiedNanos,
    @Nullable Object identity,
    @Nullable ItemName name,
    ItemNames names)
    implements StoredFile {
  /**
   * The file that the program names {@code path}; null if it is no item, or as below. With {@code
   * now} it has to be an item now, else it may be one some time.
   */
  static @Nullable ItemFile of(String path, ItemFilter filter, boolean now) {
    String absolute = MinioCache.absolute(path);
    return absolute != null && (now ? filter.isItem(absolute) : filter.mayBeItem(absolute))
        ? of(absolute, filter.names())
        : null;
  }

  /** The file at {@code absolutePath}, null if it is not regular, missing or not readable. */
  static @Nullable ItemFile of(String absolutePath, ItemNames names) {
    if (!mayBeStored(absolutePath)) {
      return null;
    }
    Path place;
    try {
      place = Path.of(absolutePath);
    } catch (InvalidPathException e) {
      return null;
    }
    BasicFileAttributes attributes = attributes(place);
    if (attributes == null || !attributes.isRegularFile() || !Files.isReadable(place)) {
      return null;
    }
    long size = attributes.size();
    long modified = modifiedNanos(attributes);
    ItemName name = names.of(absolutePath, size, modified);
    return new ItemFile(absolutePath, place, size, modified, attributes.fileKey(), name, names);
  }

  /** Whether a file there may lie in storage; what is in /dev does not, but for shared memory. */
  static boolean mayBeStored(String absolutePath) {
    return absolutePath.startsWith("/dev/")
        ? absolutePath.startsWith("/dev/shm/")
        : !absolutePath.startsWith("/proc/") && !absolutePath.startsWith("/sys/");
  }

  @Override
  public String location() {
    return path;
  }

  @Override
  public boolean unchanged() {
    BasicFileAttributes now = attributes(place);
    return now != null
        && now.size() == size
        && modifiedNanos(now) == modifiedNanos
        && Objects.equals(now.fileKey(), identity)
        && (name == null || name.equals(names.of(path, size, modifiedNanos)));
  }

  @Override
  public boolean grown() {
    BasicFileAttributes now = attributes(place);
    return now != null && now.size() > size && Objects.equals(now.fileKey(), identity);
  }

  /** Opens it; throws if the path names anything but this file, as it was, by then. */
  RandomAccessFile open() throws IOException {
    RandomAccessFile opened = new RandomAccessFile(path, "r");
    if (unchanged()) {
      return opened;
    }
    opened.close();
    throw new IOException(path + " is not the file that was opened");
  }

  @Override
  public RandomAccessFile reopen(ByteBuffer content) throws IOException {
    try {
      RandomAccessFile opened = new RandomAccessFile(path, "r");
      if (unchanged() || (grown() && begins(opened, content))) {
        return opened;
      }
      opened.close();
    } catch (FileNotFoundException e) {
      // It has no name any more.
    }
    return copy(content);
  }

  private static boolean begins(RandomAccessFile opened, ByteBuffer content) throws IOException {
    byte[] first = new byte[content.remaining()];
    byte[] bytes = new byte[first.length]; // To compare the mapping itself may end the process.
    content.duplicate().get(bytes);
    boolean begins = readFully(opened, first, 0, first.length) && Arrays.equals(first, bytes);
    opened.seek(0);
    return begins;
  }

  /** A file without a name that holds these bytes. */
  static RandomAccessFile copy(ByteBuffer content) throws IOException {
    File copy = File.createTempFile("coordl-", ".item");
    try (RandomAccessFile writer = OwnFiles.open(copy.toPath())) {
      byte[] bytes = new byte[content.remaining()];
      content.duplicate().get(bytes);
      writer.write(bytes);
      return new RandomAccessFile(copy, "r");
    } finally {
      Files.deleteIfExists(copy.toPath());
    }
  }

  @Override
  public ItemKey key() {
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
    try {
      storage.readFully(target, offset, length);
      return true;
    } catch (EOFException e) {
      return false;
    }
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
