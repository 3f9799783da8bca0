package io.coordl.items;

import io.coordl.host.OwnFiles;
import java.io.EOFException;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A regular file as it was when its state was read. Reads through {@link RandomAccessFile}, because
 * an interrupt of the program's thread would close a channel.
 *
 * @param path absolute
 * @param state state of the file at that time
 * @param name identifies it to other jobs; null if device and inode identify it
 * @param names source of {@code name}
 */
public record ItemFile(String path, FileState state, @Nullable ItemName name, ItemNames names)
    implements StoredFile {
  /** Not a block number: the key identifies the file's state, including its change time. */
  private static final long EXACT_STATE = -2;

  /**
   * Returns the file at the program's {@code path}; null if it is not an item, is missing, not
   * regular, or not in storage ({@link #mayBeStored}). With {@code now} it must be an item already;
   * otherwise it may become one later.
   */
  public static @Nullable ItemFile of(String path, ItemFilter filter, boolean now) {
    String absolute = ItemNames.absolute(path);
    return absolute != null && (now ? filter.isItem(absolute) : filter.mayBeItem(absolute))
        ? of(absolute, filter.names())
        : null;
  }

  /**
   * Returns the file at {@code absolutePath}; null if it is missing, not regular, or not in storage
   * ({@link #mayBeStored}).
   */
  public static @Nullable ItemFile of(String absolutePath, ItemNames names) {
    return of(absolutePath, null, names);
  }

  /**
   * Like {@link #of(String, ItemNames)}, for a file that the program may have opened.
   *
   * @param opened the same file; null if the program has not opened it
   */
  public static @Nullable ItemFile of(
      String absolutePath, @Nullable FileDescriptor opened, ItemNames names) {
    if (!mayBeStored(absolutePath)) {
      return null;
    }
    FileState state =
        opened == null ? names.look(absolutePath) : FileState.of(opened, absolutePath);
    return state.isFile()
        ? new ItemFile(absolutePath, state, names.of(absolutePath, state), names)
        : null;
  }

  /** Whether a file at this path may be in storage: not in /proc, /sys or /dev, except /dev/shm. */
  public static boolean mayBeStored(String absolutePath) {
    return absolutePath.startsWith("/dev/")
        ? absolutePath.startsWith("/dev/shm/")
        : !absolutePath.startsWith("/proc/") && !absolutePath.startsWith("/sys/");
  }

  /** Whether no store may cache the file; the program then reads it itself. */
  public boolean isLeftToProgram() {
    return names.skips(state);
  }

  /** Whether this process may read the file; checked before serving bytes that it did not read. */
  public boolean isReadable() {
    return Files.isReadable(Path.of(path));
  }

  @Override
  public String location() {
    return path;
  }

  @Override
  public long size() {
    return state.size();
  }

  @Override
  public boolean unchanged() {
    return isThisFile(names.look(path));
  }

  /** Whether the open file is this one, unchanged. */
  public boolean isThisFile(FileDescriptor opened) {
    return isThisFile(FileState.of(opened, path));
  }

  private boolean isThisFile(FileState now) {
    return now.equals(state)
        ? name == null || name.equals(names.of(path, state))
        : names.detectsRenumberedInode(path, state, now) && name != null && !name.ofInode();
  }

  @Override
  public boolean grown() {
    FileState now = names.look(path);
    return now.size() > state.size() && now.isSameInode(state);
  }

  /** Opens the file; throws if the path no longer names this unchanged file. */
  public RandomAccessFile open() throws IOException {
    RandomAccessFile opened = new RandomAccessFile(path, "r");
    if (isThisFile(opened.getFD())) {
      return opened;
    }
    opened.close();
    throw new IOException(path + " is not the file that was opened");
  }

  @Override
  public RandomAccessFile reopen(ByteBuffer content) throws IOException {
    try {
      RandomAccessFile opened = new RandomAccessFile(path, "r");
      FileState now = FileState.of(opened.getFD(), path);
      boolean isLonger = now.size() > state.size() && now.isSameInode(state);
      if (isThisFile(now) || ((isLonger || now.isLike(state)) && begins(opened, content))) {
        return opened;
      }
      opened.close();
    } catch (FileNotFoundException e) {
      // It has been unlinked.
    }
    return copy(content);
  }

  private static boolean begins(RandomAccessFile opened, ByteBuffer content) throws IOException {
    byte[] first = new byte[content.remaining()];
    byte[] bytes = new byte[first.length]; // Comparing the mapping itself may crash the process.
    content.duplicate().get(bytes);
    boolean begins = readFully(opened, first, 0, first.length) && Arrays.equals(first, bytes);
    opened.seek(0);
    return begins;
  }

  /** Returns an unlinked temporary file with these bytes. */
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

  /** Returns the key of the file's state, including its change time. */
  @Override
  public ItemKey key() {
    return entry(EXACT_STATE).with(stamp(), 0);
  }

  /**
   * Returns the key of a block, or of the file for {@link ItemKey#WHOLE}, without the change time.
   */
  public ItemKey entry(long block) {
    return name == null
        ? ItemKey.of("", size(), state.modifiedNanos(), block).with(state.device(), state.inode())
        : ItemKey.of(name.text(), size(), name.version(), block)
            .with(0, name.ofInode() ? state.inode() : 0);
  }

  /** Returns the inode's change time; 0 if that says nothing about the bytes. */
  public long stamp() {
    return name == null || name.isStamped() ? state.changedNanos() : 0;
  }

  /** Returns false, and remembers that, if the manifest lists other bytes for the whole file. */
  public boolean verify(byte[] bytes, int offset) {
    if (name == null || name.listed() == null || name.listed().isOf(bytes, offset, (int) size())) {
      return true;
    }
    names.reportWrong(name, path);
    return false;
  }

  /** Reads the whole file; false if it has changed or its bytes differ from the manifest. */
  public boolean readWhole(byte[] target, int offset) throws IOException {
    try (RandomAccessFile storage = new RandomAccessFile(path, "r")) {
      return readFully(storage, target, offset, (int) size())
          && storage.read() < 0
          && isThisFile(storage.getFD())
          && verify(target, offset);
    }
  }

  /** Reads {@code length} bytes from the file's position; false if the file ends first. */
  public static boolean readFully(RandomAccessFile storage, byte[] target, int offset, int length)
      throws IOException {
    try {
      storage.readFully(target, offset, length);
      return true;
    } catch (EOFException e) {
      return false;
    }
  }
}
