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
 * A read position in an opened item, and the one place where a fault of ours is turned into a read
 * of the file itself. What every cached stream, channel and random access file is built on.
 *
 * <p>The positional methods may be called from several threads, those that move the position by one
 * thread at a time. None blocks on anything but the item's own storage, and none uses interruptible
 * NIO: a prefetch thread of the program may be interrupted at any moment and must still get its
 * bytes, as from a {@link java.io.FileInputStream}.
 */
final class ItemCursor {
  /** Copies shorter than this are counted but not timed: two clock readings cost more. */
  private static final int TIMED = 512;

  private static final int CHUNK = 1 << 16;

  /** A program that reads byte by byte looks once for each so many whether memory is sound. */
  private static final int PAGE_MASK = (1 << 9) - 1;

  /** Whether the working directory that the JDK was told (user.dir) is that of the process. */
  private static final boolean ONE_DIRECTORY = oneDirectory();

  private final OpenItem item;
  private final @Nullable ByteBuffer content;

  /** Whether reads answer; if not, the program's own stream reads and {@link #fetched} notes it. */
  final boolean served;

  /** In bytes; negative if unknown, as it may be of what is not {@link #served}. */
  final long size;

  private long position;
  private int piece = Integer.MAX_VALUE;
  private long untimed;
  private boolean closed;

  /** Set once memory failed: the file reads. */
  private volatile boolean failed;

  private @Nullable RandomAccessFile file;

  private ItemCursor(OpenItem item) {
    this.item = item;
    this.served = item.served();
    this.content = served ? item.content() : null;
    this.size = item.size();
  }

  private static boolean oneDirectory() {
    File process = new File("/proc/self/cwd");
    try {
      return !process.exists() // Not Linux; then nobody can tell.
          || process.getCanonicalPath().equals(new File("").getCanonicalPath());
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * A cursor at the start of the item at {@code path}, as given to java.io or to native code, or
   * {@link #pathOf} a path of the file system; null: make the program's own call.
   */
  static @Nullable ItemCursor open(@Nullable String path) {
    return open(path, false);
  }

  /** As {@link #open}, for files that stay open across samples. */
  static @Nullable ItemCursor openRandomAccess(@Nullable String path) {
    return open(path, true);
  }

  /**
   * With {@code -Duser.dir} java.nio resolves relative paths against that directory, but java.io
   * opens them in the one of the process, of which the runtime knows nothing.
   */
  private static @Nullable ItemCursor open(@Nullable String path, boolean randomAccess) {
    if (path == null) {
      return null;
    }
    if (!ONE_DIRECTORY && !path.startsWith("/")) {
      Producers.opensUnknown();
      return null;
    }
    long start = System.nanoTime();
    return of(Bridge.open(path, randomAccess), start);
  }

  /** Whether to call {@link #ofOpened} once the program has opened the file. */
  static boolean takesOpened(String path) {
    return (ONE_DIRECTORY || path.startsWith("/")) && Bridge.takesOpened(path);
  }

  /**
   * As {@link #openRandomAccess}, for a file that the program has opened since {@code startNanos}.
   */
  static @Nullable ItemCursor ofOpened(String path, FileDescriptor opened, long startNanos) {
    return of(Bridge.openOpened(path, opened), startNanos);
  }

  /** As {@link #open}, for a path of any file system that is read from its start on. */
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

  /** The path of a file of the default file system; null as of {@link OpenItem#textOf}. */
  static @Nullable String pathOf(Path path) {
    String text = OpenItem.textOf(ONE_DIRECTORY ? path : path.toAbsolutePath());
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

  /** Copies at most {@code bytes} at a time; see {@link ItemImageInputStream}. */
  ItemCursor inPiecesOf(int bytes) {
    piece = bytes;
    return this;
  }

  /** Reads storage from the file that the program has open. */
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

  /** All bytes, if they are in memory and nothing has gone wrong; not to be modified or moved. */
  @Nullable ByteBuffer content() {
    return failed ? null : content;
  }

  /** As {@link #content}, fetched now if it was not; null where the file itself has to answer. */
  @Nullable ByteBuffer fetchContent() {
    if (content != null || !served || failed) {
      return content();
    }
    try {
      return item.fetchContent();
    } catch (IOException e) {
      return null; // If it concerns the program, the file says it again.
    } catch (Throwable t) {
      Bridge.fault("fetch " + item.path(), t);
      return null;
    }
  }

  /** Whether the item is sure to be read to its end now; see {@link OpenItem#hold}. */
  boolean hold() {
    try {
      item.hold();
      return true;
    } catch (IOException e) {
      return false; // The program's own call opens what there is now, or says what is wrong.
    } catch (Throwable t) {
      Bridge.fault("open " + item.path(), t);
      return false;
    }
  }

  /** Whether the path names the file still, as it was at the open. */
  boolean unchanged() {
    try {
      return item.unchanged();
    } catch (Throwable t) {
      Bridge.fault("look at " + item.path(), t);
      return false;
    }
  }

  /** Whether the file has grown since the open, so that only itself knows what follows. */
  boolean grown() {
    try {
      return item.grown();
    } catch (Throwable t) {
      Bridge.fault("look at " + item.path(), t);
      return false;
    }
  }

  /** Notes a read that the program's own stream made. */
  void fetched(long startNanos, long count) {
    item.fetched(startNanos, System.nanoTime(), count);
  }

  /** Notes that the program's own call has read the whole file, if there is one. */
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
        if ((position & PAGE_MASK) == 0) {
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
   * Reads as many bytes as there are, up to {@code length}: programs rely on whole reads of files.
   * Returns 0 for a length of 0, -1 at or after the end.
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
      int count = once(at + done, target, offset + done, wanted - done);
      if (count <= 0) {
        break;
      }
      done += count;
    }
    return done > 0 ? done : -1;
  }

  /** As {@link #readAt(long, byte[], int, int)} into what remains of {@code target}. */
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

  /** Whether what lies after the position fits an array of bytes. */
  boolean restFitsArray() {
    return size - position <= Integer.MAX_VALUE - 8;
  }

  /** Reads at most {@code limit} of the bytes after the position and moves it behind them. */
  byte[] readRest(int limit) throws IOException {
    int length = (int) Math.max(0, Math.min(limit, size - position));
    byte[] rest = new byte[length];
    int count = Math.max(0, read(rest, 0, length));
    return count == length ? rest : Arrays.copyOf(rest, count);
  }

  private int once(long at, byte[] target, int offset, int length) throws IOException {
    if (!failed) {
      try {
        if (content != null && length < TIMED) {
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
        throw e; // What the file itself threw is the program's to see.
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
   * The file itself, as it was opened or grown since, opened now if it was not; closed with this
   * cursor. One for all who ask, its position too.
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
    throw new IOException(item.path() + " was replaced while it was open, and its copy is damaged");
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

  /** Ends an opening whose file the program's own call could not open: it counts as none. */
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
