package io.coordl.recording;

import io.coordl.files.OwnFiles;
import io.coordl.shared.Closeables;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The agent's recording: a file in the format of JDK Flight Recorder that the agent writes itself.
 *
 * <p>Why not by the JVM's recorder: it ends the JVM at the first write that fails ("An
 * irrecoverable error in Jfr"), be it of its chunks in the temporary directory, while it runs, or
 * of a recording in memory when that is dumped; and neither quotas nor another process that fills
 * the same disk can be foreseen. Here a write that fails is an {@link IOException}.
 *
 * <p>Any thread may {@link #write}: that only appends to memory. One thread at a time calls the
 * rest. A file is a row of chunks, of which the last is readable up to the last {@link #flush}; its
 * header says that it is not finished until it is.
 */
final class EventFile {
  private static final byte[] MAGIC = {'F', 'L', 'R', 0};

  /** Readers load or divide their work by whole chunks. */
  private static final int CHUNK_BYTES = 16 << 20;

  /** What may wait in memory while storage hangs. */
  private static final int MOST_WAITING = 8 << 20;

  /** As many as the kernel follows. */
  private static final int MOST_LINKS = 40;

  private static final int HEADER_BYTES = 68;
  private static final byte FINISHED = 0;
  private static final byte COMPRESSED_INTEGERS = 1;
  private static final byte LAST_CHUNK = 2;

  private final EventTypes types;
  final Path path;

  /** No channel: that would take of the direct memory, of which a program may have used up all. */
  private final RandomAccessFile file;

  /** One clock for the whole file: a computer that sets its clock moves no event. */
  private final long originNanos = System.nanoTime();

  private final long originTime = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());

  private final LongAdder lost = new LongAdder();

  // What the writing threads share.
  private final Object lock = new Object();
  private FlightBytes waiting = new FlightBytes();
  private Map<Long, String> newThreads = new LinkedHashMap<>();
  private final Map<Long, String> threads = new LinkedHashMap<>();
  private boolean closed;

  /** Device and inode. */
  private final @Nullable Object identity;

  // Of the flushing thread.
  private FlightBytes flushed = new FlightBytes();
  private final FlightBytes group = new FlightBytes();
  private long chunkStart;
  private long chunkNanos;
  private long position;
  private long constants;
  private byte flushes;

  /** End of what is readable, and its last group of constants. */
  private long good;

  private long goodConstants;

  private boolean hasEvents;

  /**
   * Creates the file with these attributes; if that or writing its first bytes fails, no file is
   * left.
   *
   * @param replaces whether to replace a recording of that name that no job is writing
   * @throws FileAlreadyExistsException if there is one that is not replaced
   */
  EventFile(Path path, EventTypes types, boolean replaces, FileAttribute<?>... attributes)
      throws IOException {
    this.types = types;
    this.path = ownPath(path);
    if (replaces && Files.exists(this.path, LinkOption.NOFOLLOW_LINKS)) {
      replace(this.path);
    }
    file = OwnFiles.create(this.path, attributes);
    if (!lock(file)) {
      Closeables.closeQuietly(file);
      throw new FileAlreadyExistsException(this.path.toString());
    }
    try {
      identity = identity();
      beginChunk();
      flush();
    } catch (IOException | RuntimeException | Error e) {
      close();
      Files.deleteIfExists(this.path);
      throw e;
    }
  }

  /** Deletes a recording. Its lock ensures that no other job writes it or deletes it, too. */
  private static void replace(Path path) throws IOException {
    try (RandomAccessFile before = OwnFiles.open(path)) {
      if (!lock(before)) {
        throw new FileAlreadyExistsException(path.toString());
      }
      byte[] magic = new byte[MAGIC.length];
      if (before.length() > 0
          && (before.read(magic) < magic.length || !Arrays.equals(magic, MAGIC))) {
        throw new IOException("it is there already and is no recording");
      }
      Files.deleteIfExists(path);
    }
  }

  /**
   * Locks the file as long as it is open; false if another job has it. Some file systems have no
   * locks.
   */
  private static boolean lock(RandomAccessFile file) {
    try {
      return file.getChannel().tryLock() != null;
    } catch (OverlappingFileLockException e) {
      return false; // This JVM holds the lock.
    } catch (IOException e) {
      return true;
    }
  }

  private @Nullable Object identity() throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }

  /** Whether the file still has its name: somebody may have removed it, or another job taken it. */
  boolean isThere() {
    try {
      return Objects.equals(identity(), identity);
    } catch (IOException e) {
      return false;
    }
  }

  /** Where the links of the user's, or of the system, lead to; nobody else's is followed. */
  private static Path ownPath(Path path) throws IOException {
    OwnFiles.requireOwnLinks(path);
    Path target = path;
    for (int links = 0; links < MOST_LINKS && Files.isSymbolicLink(target); links++) {
      target = target.resolveSibling(Files.readSymbolicLink(target));
    }
    return target;
  }

  /** Bytes of the file that can be read. */
  long size() {
    return good;
  }

  /** Events that were not written, as too many waited for storage. */
  long lost() {
    return lost.sum();
  }

  /** Appends an event, to be flushed later; nothing once the file is closed. */
  void write(Object event, long start, long end) {
    if (types.leavesOut(event, end - start)) {
      return; // Most decodes and transforms: without the lock.
    }
    Thread thread = Thread.currentThread();
    synchronized (lock) {
      if (closed) {
        return;
      }
      int before = waiting.size();
      if (before > MOST_WAITING) {
        lost.increment();
        return;
      }
      try {
        types.write(waiting, event, start, end, thread.getId());
      } catch (RuntimeException | OutOfMemoryError e) {
        // Of a program's thread, which must not hear of it.
        waiting.cut(before);
        lost.increment();
        return;
      }
      if (!thread.getName().equals(threads.put(thread.getId(), thread.getName()))) {
        newThreads.put(thread.getId(), thread.getName());
      }
    }
  }

  /** Writes what waits; after it all events so far can be read. */
  void flush() throws IOException {
    Map<Long, String> named;
    boolean full;
    synchronized (lock) {
      FlightBytes taken = waiting;
      waiting = flushed;
      flushed = taken;
      named = newThreads;
      newThreads = new LinkedHashMap<>();
      full = position + taken.size() - chunkStart > CHUNK_BYTES;
      if (full) {
        // The next chunk is read by itself.
        threads.clear();
      }
    }
    try {
      if (flushed.size() > 0 || constants == 0) {
        append(flushed);
        appendThreads(named);
        writeHeader(++flushes == FINISHED ? ++flushes : flushes, COMPRESSED_INTEGERS);
        hasEvents |= flushed.size() > 0;
      }
    } finally {
      flushed.clear();
    }
    if (full) {
      writeHeader(FINISHED, COMPRESSED_INTEGERS);
      beginChunk();
      flush();
    }
  }

  void finish() throws IOException {
    flush();
    writeHeader(FINISHED, (byte) (COMPRESSED_INTEGERS | LAST_CHUNK));
    close();
  }

  /** A write failed: keeps what can be read, finished; deletes the file if that is nothing. */
  void giveUp() {
    try {
      if (!hasEvents) {
        good = 0;
        Files.deleteIfExists(path);
        return;
      }
      file.setLength(good);
      if (good > chunkStart) {
        position = good;
        constants = goodConstants;
        writeHeader(FINISHED, (byte) (COMPRESSED_INTEGERS | LAST_CHUNK));
      }
    } catch (IOException e) {
      // What is there can be read up to the last flush anyway.
    } finally {
      close();
    }
  }

  private void close() {
    synchronized (lock) {
      closed = true;
      waiting = new FlightBytes();
    }
    Closeables.closeQuietly(file);
  }

  private void beginChunk() throws IOException {
    FlightBytes metadata = types.metadata;
    // First, as it may fail, and be tried again.
    write(metadata.array(), metadata.size(), position + HEADER_BYTES);
    chunkStart = position;
    chunkNanos = System.nanoTime();
    constants = 0;
    flushes = 0;
    position += HEADER_BYTES + metadata.size();
  }

  private void append(FlightBytes bytes) throws IOException {
    write(bytes.array(), bytes.size(), position);
    position += bytes.size();
  }

  private void write(byte[] bytes, int length, long at) throws IOException {
    file.seek(at);
    file.write(bytes, 0, length);
  }

  /** Threads that were named since the last flush; a chunk has one group of constants at least. */
  private void appendThreads(Map<Long, String> named) throws IOException {
    if (named.isEmpty() && constants != 0) {
      return;
    }
    long at = position - chunkStart;
    group.clear();
    types.writeThreads(group, constants == 0 ? 0 : constants - at, named);
    append(group);
    constants = at;
  }

  /** Writes what the chunk begins with: it can be read up to here. */
  private void writeHeader(byte state, byte features) throws IOException {
    ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
    header.put(MAGIC);
    header.putShort((short) 2).putShort((short) 1);
    header.putLong(position - chunkStart); // bytes of all of it
    header.putLong(constants);
    header.putLong(HEADER_BYTES); // where the description of the events is
    header.putLong(originTime + chunkNanos - originNanos); // when it began, since 1970
    header.putLong(System.nanoTime() - chunkNanos);
    header.putLong(chunkNanos);
    header.putLong(TimeUnit.SECONDS.toNanos(1)); // ticks a second
    header.put(state).put((byte) 0).put((byte) 0).put(features);
    write(header.array(), HEADER_BYTES, chunkStart);
    good = position;
    goodConstants = constants;
  }
}
