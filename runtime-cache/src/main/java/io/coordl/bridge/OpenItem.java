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
 * One opened item. Used by one stream or channel of the program; {@link #content} and {@link #read}
 * may be called from several threads, as the JDK's positional reads may.
 *
 * <p>Three cases, fixed at the open:
 *
 * <ul>
 *   <li>whole: {@link #content} is not null and every byte is in memory;
 *   <li>in blocks: {@link #served} and no content: {@link #read} answers, from memory block by
 *       block, and from storage for blocks that are not (yet) kept;
 *   <li>observed: not {@link #served}: the program's own stream reads, and only its time is noted.
 * </ul>
 */
public abstract class OpenItem {
  /** Size of an item that is only observed. */
  public static final long UNKNOWN_SIZE = -1;

  /** What no compiler may take for a constant. */
  private static volatile int zero;

  static final char REPLACEMENT = '\uFFFD';

  /** Whether every text that does not encode back to its name can be recognised. */
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
   * The text of a path of the default file system; null if the text would name another file or
   * none. A name may be any bytes; bytes that are not text in the JVM's encoding decode to the
   * replacement character, which may be part of a real name, too.
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

  /** The path as the program wrote it. */
  public final String path() {
    return path;
  }

  /** Size in bytes at the open; negative if unknown, as it may be of what is not served. */
  public final long size() {
    return size;
  }

  /** Notes that the program has the file open; called once, before the first read. */
  final void readFrom(OpenedFile opened) {
    own = opened;
  }

  /** The file that the program has open and that storage is read from; null if it has none. */
  protected final @Nullable OpenedFile own() {
    return own;
  }

  /** All bytes, a fresh read-only view from 0 to {@link #size}; null if not whole in memory. */
  public @Nullable ByteBuffer content() {
    return null;
  }

  /**
   * All bytes for a reader who needs them at once, such as a mapping: an item in blocks that is
   * small enough for one is fetched now, if it may be kept. A fresh read-only view; null if storage
   * has to answer. May be called from several threads.
   *
   * @throws IOException what the file itself threw
   */
  public @Nullable ByteBuffer fetchContent() throws IOException {
    return content();
  }

  /** Whether {@link #read} answers; if not, the program's own stream must. */
  public boolean served() {
    return false;
  }

  /**
   * Reads up to {@code length} bytes at {@code position}; fewer only before the end or at a block
   * border. What follows the size at the open is not read.
   *
   * @return bytes read, -1 at or after the end
   * @throws IOException what the file itself threw
   */
  public int read(long position, byte[] target, int offset, int length) throws IOException {
    throw new IllegalStateException("an observed item is read by the program's own stream");
  }

  /**
   * Makes sure that the item can be read to its end whatever becomes of its name: unless all its
   * bytes are in memory, the file is opened now. Called before the first read by a caller that does
   * not hold the file open.
   *
   * @throws IOException if the name is that of another file by now, or of none
   */
  public void hold() throws IOException {}

  /** Whether the path names the file still, as it was at the open. */
  public boolean unchanged() {
    return true;
  }

  /**
   * Whether the file seems longer now than at the open, or is open and has another length, so that
   * only {@link #file} knows what follows. Asked at the end of the item; one look at the file.
   */
  public boolean grown() {
    return new File(path).length() > size;
  }

  /**
   * A file open for reading that holds what this opening is to read: the one opened, which may have
   * grown since, or a copy if its name is another's by now; throws if neither can be had. The
   * caller closes it.
   */
  public RandomAccessFile file() throws IOException {
    return new RandomAccessFile(path, "r");
  }

  /**
   * The farthest place that a byte of this opening came from: also storage for the opening that
   * read the file in order to keep it. Asked once, at the end.
   */
  public Origin origin() {
    return Origin.STORAGE;
  }

  /** Frees what the runtime holds for this opening; nothing is ever removed from a store. */
  protected void release() {}

  /**
   * Notes what opening it took from {@code startNanos} until now and is not noted yet: to look at
   * the file is to ask its storage. Called once, by whoever opened it.
   */
  final void opened(long startNanos) {
    long now = System.nanoTime();
    long left;
    synchronized (this) {
      left = now - startNanos - nanos;
    }
    if (left > 0) {
      fetched(now - left, now, 0);
    }
  }

  /** Notes a read of {@code count} bytes (negative: none) that took from start to end. */
  public final void fetched(long startNanos, long endNanos, long count) {
    synchronized (this) {
      nanos += endNanos - startNanos;
      bytes += Math.max(0, count);
    }
    Spans.fetchTime(startNanos, endNanos);
  }

  /** Ends this opening: the item counts as fetched once, however often this is called. */
  public final void close() {
    if (ends()) {
      long transferred = transferred();
      Origin origin = origin();
      release();
      Spans.itemFetched(path, openedNanos, nanos, transferred, origin);
    }
  }

  /** Ends an opening whose file the program's own call could not open: nothing was fetched. */
  final void abandon() {
    if (ends()) {
      release();
    }
  }

  private synchronized boolean ends() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  /** Bytes so far. A decoder that seeks reads some twice; a whole item still came over once. */
  protected final long transferred() {
    return content() == null ? bytes : size;
  }

  /**
   * Lets the JVM throw here, not somewhere in the program, what an access of this thread to memory
   * has caused that another program has damaged: it does so when the thread comes back from the
   * JVM's own code, as from making an array of no arrays, which costs least. (On return from a
   * native method only the interpreter does.)
   */
  @SuppressWarnings("ReachabilityFenceUsage") // So that the array is made.
  public static void settle() {
    int length = zero;
    Reference.reachabilityFence(new byte[length][length]);
  }
}
