package io.coordl.bridge;

import java.io.File;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A read position in an opened item; every cached stream, channel and random access file is built
 * on one. If the agent fails to read, this class reads the file itself; the classes built on it
 * need no fallback of their own.
 *
 * <p>Several threads may call the positional methods; only one thread at a time may call those that
 * move the position. No method uses interruptible NIO: a prefetch thread of the program may be
 * interrupted at any moment and must still get its bytes, as from a {@link
 * java.io.FileInputStream}.
 */
final class ItemCursor {
  /** Shorter copies into arrays are counted but not timed: two clock reads would cost more. */
  private static final int MIN_TIMED = 512;

  private static final int CHUNK = 1 << 16;

  /** Single-byte reads check for damaged memory where these bits of the position are zero. */
  private static final int CHECK_MASK = (1 << 9) - 1;

  /** Whether the JDK's working directory (user.dir) is the process's. */
  private static final boolean SAME_DIRECTORY = isSameDirectory();

  private final OpenItem item;
  private final @Nullable ByteBuffer content;

  /**
   * Whether this cursor can read; if not, the program's own stream reads, and its reads are
   * reported to {@link #fetched}.
   */
  final boolean served;

  /** Size in bytes; negative if unknown, which is possible only if not {@link #served}. */
  final long size;

  private long position;
  private int piece = Integer.MAX_VALUE;
  private long untimed;
  private boolean closed;

  /** Set once the agent has failed to read; reads then use the file. */
  private volatile boolean failed;

  private @Nullable RandomAccessFile file;

  private ItemCursor(OpenItem item) {
    this.item = item;
    this.served = item.served();
    this.content = served ? item.content() : null;
    this.size = item.size();
  }

  private static boolean isSameDirectory() {
    File process = new File("/proc/self/cwd");
    try {
      return !process.exists() // Not Linux: cannot be determined.
          || process.getCanonicalPath().equals(new File("").getCanonicalPath());
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Opens the item at {@code path} (passed to java.io or native code, or a result of {@link
   * #pathOf}) and returns a cursor at its start; null if the program's own call should run.
   */
  static @Nullable ItemCursor open(@Nullable String path) {
    return open(path, false);
  }

  /** Like {@link #open}, for files that stay open across samples. */
  static @Nullable ItemCursor openRandomAccess(@Nullable String path) {
    return open(path, true);
  }

  /**
   * Opens the item at {@code path}. Skips relative paths if {@code -Duser.dir} names another
   * directory: java.nio resolves them against that directory, but java.io against the working
   * directory of the process, which the runtime does not know.
   */
  private static @Nullable ItemCursor open(@Nullable String path, boolean randomAccess) {
    if (path == null) {
      return null;
    }
    if (!isResolved(path)) {
      Producers.opensUnknown();
      return null;
    }
    long start = System.nanoTime();
    return of(Bridge.open(path, randomAccess), start);
  }

  /** Whether the runtime knows which file a path passed to java.io names. */
  static boolean isResolved(String path) {
    return SAME_DIRECTORY || path.startsWith("/");
  }

  /** Called before the program queries a file, or opens it by a call of its own. */
  static void noteFile(String path) {
    Bridge.noteFile(isResolved(path) ? path : Producers.UNKNOWN);
  }

  /** Called before the program opens a file: whether to call {@link #ofOpened} once it has. */
  static boolean takesOpened(String path) {
    return isResolved(path) && Bridge.takesOpened(path);
  }

  /**
   * Like {@link #openRandomAccess}, for a file that the program has opened since {@code
   * startNanos}.
   */
  static @Nullable ItemCursor ofOpened(String path, FileDescriptor opened, long startNanos) {
    return of(Bridge.openOpened(path, opened), startNanos);
  }

  /** Like {@link #open}, for a path of any file system and for sequential readers. */
  static @Nullable ItemCursor open(@Nullable Path path) {
    if (path == null) {
      return null;
    }
    if (path.getFileSystem() == FileSystems.getDefault()) {
      return open(pathOf(path));
    }
    long start = System.nanoTime();
    return of(Bridge.openForeign(path), start);
  }

  /**
   * Returns a path of the default file system as a string; null if {@link OpenItem#textOf} returns
   * null.
   */
  static @Nullable String pathOf(Path path) {
    String text = OpenItem.textOf(SAME_DIRECTORY ? path : path.toAbsolutePath());
    if (text == null) {
      Producers.opensUnknown();
    }
    return text;
  }

  private static @Nullable ItemCursor of(@Nullable OpenItem item, long startNanos) {
    if (item == null) {
      return null;
    }
    try {
      item.opened(startNanos);
      return new ItemCursor(item);
    } catch (Throwable t) {
      Bridge.fault("open " + item.path(), t);
      close(item);
      return null;
    }
  }

  /** Limits each copy to {@code bytes}; see {@link ItemImageInputStream}. */
  ItemCursor inPiecesOf(int bytes) {
    piece = bytes;
    return this;
  }

  /** From now on, bytes from storage are read from the file that the program has open. */
  ItemCursor readingFrom(OpenedFile opened) {
    item.readFrom(opened);
    return this;
  }

  String path() {
    return item.path();
  }

  long position() {
    return position;
  }

  void position(long newPosition) {
    position = newPosition;
  }

  /**
   * Returns all bytes if they are in memory and nothing has failed; else null. Do not modify the
   * buffer or its position.
   */
  @Nullable ByteBuffer content() {
    return failed ? null : content;
  }

  /**
   * Like {@link #content}, but fetches the bytes if necessary; null if only the file can supply
   * them.
   */
  @Nullable ByteBuffer fetchContent() {
    if (content != null || !served || failed) {
      return content();
    }
    try {
      return item.fetchContent();
    } catch (IOException e) {
      return null; // If the file is at fault, reading it fails again.
    } catch (Throwable t) {
      Bridge.fault("fetch " + item.path(), t);
      return null;
    }
  }

  /** Whether the item can be read to its end from now on; see {@link OpenItem#hold}. */
  boolean hold() {
    try {
      item.hold();
      return true;
    } catch (IOException e) {
      return false; // The program's own call opens the current file, or reports the error.
    } catch (Throwable t) {
      Bridge.fault("open " + item.path(), t);
      return false;
    }
  }

  /** Whether the path still refers to the same unchanged file as at the open. */
  boolean unchanged() {
    try {
      return item.unchanged();
    } catch (Throwable t) {
      Bridge.fault("check " + item.path(), t);
      return false;
    }
  }

  /** Whether the file has grown since the open; only the file itself contains the new bytes. */
  boolean grown() {
    try {
      return item.grown();
    } catch (Throwable t) {
      Bridge.fault("check " + item.path(), t);
      return false;
    }
  }

  /** Records a read that began at {@code startNanos} and has just ended. */
  void fetched(long startNanos, long count) {
    item.fetched(startNanos, System.nanoTime(), count);
  }

  /** Records that the program's own call has read the whole file, if it exists. */
  void fetchedWhole(long startNanos) {
    File read = new File(path());
    long length = size < 0 ? read.length() : size;
    if (length > 0 || read.exists()) {
      fetched(startNanos, length);
    } else {
      abandon();
    }
  }

  /** Reads at the position and moves it. */
  int read(byte[] target, int offset, int length) throws IOException {
    int count = readAt(position, target, offset, length);
    if (count > 0) {
      position += count;
    }
    return count;
  }

  /** Reads one byte at the position and moves it; -1 at the end. */
  int read() throws IOException {
    ByteBuffer bytes = content();
    if (bytes != null && position < size && position >= 0) {
      try {
        int value = bytes.get((int) position) & 0xff;
        if ((position & CHECK_MASK) == 0) {
          OpenItem.settle();
        }
        position++;
        untimed++;
        return value;
      } catch (Throwable t) {
        failed(t);
      }
    }
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  /**
   * Reads all available bytes up to {@code length}, because programs rely on full reads of files.
   * Returns 0 for a length of 0, -1 at or past the end.
   */
  int readAt(long at, byte[] target, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (at >= size) {
      return -1;
    }
    int wanted = (int) Math.min(length, size - at);
    int done = 0;
    while (done < wanted) {
      int count = readSome(at + done, target, offset + done, wanted - done);
      if (count <= 0) {
        break;
      }
      done += count;
    }
    return done > 0 ? done : -1;
  }

  /** Like {@link #readAt(long, byte[], int, int)}, into the remaining space of {@code target}. */
  int readAt(long at, ByteBuffer target) throws IOException {
    int length = target.remaining();
    if (length == 0) {
      return 0;
    }
    if (at >= size) {
      return -1;
    }
    if (target.hasArray()) {
      int count = readAt(at, target.array(), target.arrayOffset() + target.position(), length);
      if (count > 0) {
        target.position(target.position() + count);
      }
      return count;
    }
    ByteBuffer bytes = content();
    if (bytes != null) {
      try {
        long start = System.nanoTime();
        int count = (int) Math.min(length, size - at);
        target.put(target.position(), bytes, (int) at, count);
        OpenItem.settle();
        target.position(target.position() + count);
        fetched(start, count);
        return count;
      } catch (Throwable t) {
        failed(t);
      }
    }
    byte[] chunk = new byte[Math.min(CHUNK, length)];
    int done = 0;
    while (done < length) {
      int count = readAt(at + done, chunk, 0, Math.min(chunk.length, length - done));
      if (count < 0) {
        break;
      }
      target.put(chunk, 0, count);
      done += count;
    }
    return done > 0 ? done : -1;
  }

  /** Whether the bytes after the position fit into an array. */
  boolean restFitsArray() {
    return size - position <= Integer.MAX_VALUE - 8;
  }

  /** Reads at most {@code limit} bytes from the position and advances it. */
  byte[] readRest(int limit) throws IOException {
    int length = (int) Math.max(0, Math.min(limit, size - position));
    byte[] rest = new byte[length];
    int count = Math.max(0, read(rest, 0, length));
    return count == length ? rest : Arrays.copyOf(rest, count);
  }

  private int readSome(long at, byte[] target, int offset, int length) throws IOException {
    if (!failed) {
      try {
        if (content != null && length < MIN_TIMED) {
          content.get((int) at, target, offset, length);
          OpenItem.settle();
          untimed += length;
          return length;
        }
        long start = System.nanoTime();
        int count;
        if (content != null) {
          copy(content, (int) at, target, offset, length);
          OpenItem.settle();
          count = length;
        } else {
          count = item.read(at, target, offset, length);
        }
        fetched(start, count);
        return count;
      } catch (IOException e) {
        throw e; // The program must see exceptions of the file itself.
      } catch (Throwable t) {
        failed(t);
      }
    }
    return fromFile(at, target, offset, length);
  }

  private void copy(ByteBuffer bytes, int at, byte[] target, int offset, int length) {
    for (int done = 0; done < length; ) {
      int count = Math.min(piece, length - done);
      bytes.get(at + done, target, offset + done, count);
      done += count;
    }
  }

  private void failed(Throwable t) {
    Bridge.fault("read " + item.path(), t);
    failed = true;
  }

  /**
   * Returns the file itself, as it was at the open except for growth; opened on first use and
   * closed with this cursor. All callers share it, including its position.
   */
  synchronized RandomAccessFile file() throws IOException {
    RandomAccessFile opened = file;
    if (opened == null) {
      if (closed) {
        throw new IOException("Stream Closed");
      }
      opened = failed ? unchangedFile() : item.file();
      file = opened;
    }
    return opened;
  }

  private RandomAccessFile unchangedFile() throws IOException {
    RandomAccessFile opened = new RandomAccessFile(item.path(), "r");
    if (item.unchanged()) {
      return opened;
    }
    opened.close();
    throw new IOException(
        item.path() + " was replaced while it was open, and its cached copy is damaged");
  }

  private synchronized int fromFile(long at, byte[] target, int offset, int length)
      throws IOException {
    RandomAccessFile from = file();
    long start = System.nanoTime();
    from.seek(at);
    int count = from.read(target, offset, length);
    fetched(start, count);
    return count;
  }

  /**
   * Ends this opening without counting it, because the program's own call could not open the file.
   */
  void abandon() {
    try {
      item.abandon();
    } catch (Throwable t) {
      Bridge.fault("close " + item.path(), t);
    }
    close();
  }

  /** Ends this opening; idempotent. */
  void close() {
    RandomAccessFile opened;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      opened = file;
    }
    if (untimed > 0) {
      long now = System.nanoTime();
      item.fetched(now, now, untimed);
    }
    if (opened != null) {
      try {
        opened.close();
      } catch (IOException e) {
        Bridge.fault("close " + item.path(), e);
      }
    }
    close(item);
  }

  private static void close(OpenItem item) {
    try {
      item.close();
    } catch (Throwable t) {
      Bridge.fault("close " + item.path(), t);
    }
  }
}
