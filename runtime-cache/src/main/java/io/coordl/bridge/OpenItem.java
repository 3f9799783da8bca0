package io.coordl.bridge;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One opened item, used by one reader of the program, such as a stream or channel. Several threads
 * may call {@link #content} and {@link #read}, as with the JDK's positional reads.
 *
 * <p>Three cases, fixed at the open:
 *
 * <ul>
 *   <li>whole: {@link #content} is not null and every byte is in memory;
 *   <li>in blocks: {@link #served} without content; {@link #read} takes cached blocks from memory
 *       and the others from storage;
 *   <li>observed: not {@link #served}; the program's own stream reads, and the agent only records
 *       its reads.
 * </ul>
 */
public abstract class OpenItem {
  /** Size of an item whose size is unknown; such an item is only observed. */
  public static final long UNKNOWN_SIZE = -1;

  /** Zero, but not a constant to any compiler. */
  private static volatile int zero;

  static final char REPLACEMENT = '\uFFFD';

  /**
   * Whether the replacement character appears in every decoded file name that does not encode back
   * to the original.
   */
  private static final boolean DECODES_SIMPLY =
      List.of("UTF-8", "ANSI_X3.4-1968", "US-ASCII", "ISO-8859-1")
          .contains(System.getProperty("sun.jnu.encoding", ""));

  private final String path;
  private final long size;
  private final long openedNanos = System.nanoTime();
  private long nanos;
  private long bytes;
  private boolean closed;
  private @Nullable OpenedFile own;

  protected OpenItem(String path, long size) {
    this.path = path;
    this.size = size;
  }

  /**
   * Returns a path of the default file system as a string; null if that string would name another
   * file or none. File names are arbitrary bytes. Bytes that are invalid in the JVM's encoding
   * decode to the replacement character, which may also be part of a real name.
   */
  public static @Nullable String textOf(Path path) {
    String text = path.toString();
    return (DECODES_SIMPLY && text.indexOf(REPLACEMENT) < 0) || isNamed(text, path) ? text : null;
  }

  private static boolean isNamed(String text, Path path) {
    try {
      return path.getFileSystem().getPath(text).equals(path);
    } catch (InvalidPathException e) {
      return false;
    }
  }

  /** Returns the path as the program passed it. */
  public final String path() {
    return path;
  }

  /**
   * Returns the size in bytes at the open; negative if unknown, which is possible only if not
   * served.
   */
  public final long size() {
    return size;
  }

  /** Notes that the program has the file open; called at most once, before the first read. */
  final void readFrom(OpenedFile opened) {
    own = opened;
  }

  /** Returns the file that the program has open, used to read from storage; null if none. */
  protected final @Nullable OpenedFile own() {
    return own;
  }

  /**
   * Returns all bytes, as a fresh read-only view from 0 to {@link #size}; null unless the whole
   * item is in memory.
   */
  public @Nullable ByteBuffer content() {
    return null;
  }

  /**
   * Returns all bytes, for a reader that needs them together, such as a mapping; null if the bytes
   * must come from storage. An item in blocks is fetched now if it consists of a single block. The
   * result is a fresh read-only view. May be called from several threads.
   *
   * @throws IOException if reading the file failed
   */
  public @Nullable ByteBuffer fetchContent() throws IOException {
    return content();
  }

  /** Whether {@link #read} can be used; if not, the program's own stream reads. */
  public boolean served() {
    return false;
  }

  /**
   * Reads up to {@code length} bytes at {@code position}; fewer only at the end or at a block
   * boundary. Never reads beyond the size at the open.
   *
   * @return number of bytes read, -1 at or after the end
   * @throws IOException if reading the file failed
   */
  public int read(long position, byte[] target, int offset, int length) throws IOException {
    throw new IllegalStateException("an observed item is read by the program's own stream");
  }

  /**
   * Ensures that the item can be read to its end even if its path is replaced: unless all its bytes
   * are in memory, the file is opened now. Called before the first read by a caller that does not
   * hold the file open.
   *
   * @throws IOException if the path now refers to another file, or to none
   */
  public void hold() throws IOException {}

  /** Whether the path still refers to the same unchanged file as at the open. */
  public boolean unchanged() {
    return true;
  }

  /**
   * Whether the file has grown since the open; the appended bytes can be read only from {@link
   * #file}. If the file is held open, any change of its length counts. Each call checks the file.
   */
  public boolean grown() {
    return new File(path).length() > size;
  }

  /**
   * Returns a file, open for reading, with the content of this opening: the opened file, which may
   * have grown since, or a copy if its path now refers to another file. Throws if neither is
   * available. The caller closes it.
   */
  public RandomAccessFile file() throws IOException {
    return new RandomAccessFile(path, "r");
  }

  /**
   * Returns the farthest source of any byte of this opening; STORAGE also for the opening that read
   * the file into the cache. Called once, at the end.
   */
  public Origin origin() {
    return Origin.STORAGE;
  }

  /** Frees the runtime's resources for this opening; never removes anything from a store. */
  protected void release() {}

  /**
   * Records the part of the time since {@code startNanos} that is not recorded yet: checking a file
   * costs storage time. Called once, by the code that opened the item.
   */
  final void opened(long startNanos) {
    Spans.itemOpened(path);
    long now = System.nanoTime();
    long left;
    synchronized (this) {
      left = now - startNanos - nanos;
    }
    if (left > 0) {
      fetched(now - left, now, 0);
    }
  }

  /** Records a read of {@code count} bytes (negative: none) from start to end time. */
  public final void fetched(long startNanos, long endNanos, long count) {
    synchronized (this) {
      nanos += endNanos - startNanos;
      bytes += Math.max(0, count);
    }
    Spans.fetchTime(startNanos, endNanos);
  }

  /** Ends this opening; the item counts as fetched once, even if this is called repeatedly. */
  public final void close() {
    if (markClosed()) {
      long transferred = transferred();
      Origin origin = origin();
      release();
      Spans.itemFetched(path, openedNanos, nanos, transferred, origin);
    }
  }

  /**
   * Ends an opening whose file the program's own call could not open; nothing counts as fetched.
   */
  final void abandon() {
    if (markClosed()) {
      release();
    }
  }

  /** Returns true on the first call. */
  private synchronized boolean markClosed() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  /**
   * Returns the bytes transferred so far. A decoder that seeks reads some bytes twice, but a whole
   * item counts once.
   */
  protected final long transferred() {
    return content() == null ? bytes : size;
  }

  /**
   * Makes the JVM throw the pending error of this thread's access to damaged memory here, not
   * somewhere in the program. The JVM throws it when a thread returns from the JVM's own code;
   * allocating an empty multidimensional array is the cheapest way to cause that. (Returning from a
   * native method does so only in the interpreter.)
   */
  @SuppressWarnings("ReachabilityFenceUsage") // So that the array is allocated.
  public static void settle() {
    int length = zero;
    Reference.reachabilityFence(new byte[length][length]);
  }
}
