package io.coordl.telemetry.recording;

import io.coordl.host.Closeables;
import io.coordl.host.OwnFiles;
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
 * The agent's recording: a file in the format of JDK Flight Recorder, written by the agent itself.
 *
 * <p>The JVM's own recorder is not an option. It ends the JVM at the first failed write ("An
 * irrecoverable error in Jfr"), both when it writes chunks to the temporary directory and when it
 * dumps a recording held in memory. Quotas, or another process that fills the disk, cannot be
 * foreseen. Here a failed write is an {@link IOException}.
 *
 * <p>Any thread may call {@link #write}, which only appends to memory. Only one thread at a time
 * may call the other methods. A file is a sequence of chunks; the last one is readable up to the
 * last {@link #flush}, and its header marks it as unfinished until {@link #finish}.
 */
final class EventFile {
  private static final byte[] MAGIC = {'F', 'L', 'R', 0};

  /** A new chunk begins beyond this size: readers load and split recordings by whole chunks. */
  private static final int CHUNK_BYTES = 16 << 20;

  /** Bytes that may wait in memory while storage hangs. */
  private static final int MAX_WAITING = 8 << 20;

  /** Maximum number of links to follow, as in the kernel. */
  private static final int MAX_LINKS = 40;

  private static final int HEADER_BYTES = 68;
  private static final byte FINISHED = 0;
  private static final byte COMPRESSED_INTEGERS = 1;
  private static final byte LAST_CHUNK = 2;

  private final EventTypes types;
  final Path path;

  /** Not a channel, which would need direct memory; the program may have used up all of it. */
  private final RandomAccessFile file;

  /** One clock for the whole file, so that a change to the system clock moves no event. */
  private final long originNanos = System.nanoTime();

  private final long originTime = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());

  private final LongAdder lost = new LongAdder();

  // Shared by the writing threads; guarded by lock.
  private final Object lock = new Object();
  private FlightBytes waiting = new FlightBytes();
  private Map<Long, String> newThreads = new LinkedHashMap<>();
  private final Map<Long, String> threads = new LinkedHashMap<>();
  private boolean closed;

  /** Identity of the file, such as device and inode; null if the file system has no such key. */
  private final @Nullable Object identity;

  // Used by the flushing thread only.
  private FlightBytes flushed = new FlightBytes();
  private final FlightBytes checkpoint = new FlightBytes();
  private long chunkStart;
  private long chunkNanos;
  private long position;
  private long constants;
  private byte flushes;

  /** End of the readable part. */
  private long readable;

  /** Offset of the last checkpoint event in the readable part. */
  private long readableConstants;

  private boolean hasEvents;

  /**
   * Creates the file with these attributes. If writing its beginning fails, the file is deleted.
   *
   * @param replaces whether to replace a recording of that name that no job is writing
   * @throws FileAlreadyExistsException if the file exists and is not replaced
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

  /** Deletes a recording. Its lock ensures that no other job is writing or deleting it. */
  private static void replace(Path path) throws IOException {
    try (RandomAccessFile before = OwnFiles.open(path)) {
      if (!lock(before)) {
        throw new FileAlreadyExistsException(path.toString());
      }
      byte[] magic = new byte[MAGIC.length];
      if (before.length() > 0
          && (before.read(magic) < magic.length || !Arrays.equals(magic, MAGIC))) {
        throw new IOException("it exists and is not a recording");
      }
      Files.deleteIfExists(path);
    }
  }

  /**
   * Locks the file until it is closed; returns false if another job holds the lock, and true on
   * file systems without locks.
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

  /** Whether the file still exists under its name: it may have been removed or replaced. */
  boolean exists() {
    try {
      return Objects.equals(identity(), identity);
    } catch (IOException e) {
      return false;
    }
  }

  /** Resolves links of the user or the system; throws on links of other users. */
  private static Path ownPath(Path path) throws IOException {
    OwnFiles.requireOwnLinks(path);
    Path target = path;
    for (int links = 0; links < MAX_LINKS && Files.isSymbolicLink(target); links++) {
      target = target.resolveSibling(Files.readSymbolicLink(target));
    }
    return target;
  }

  /** Returns the number of readable bytes in the file. */
  long size() {
    return readable;
  }

  /** Returns the number of events dropped, mostly because too many were waiting for storage. */
  long lost() {
    return lost.sum();
  }

  /** Appends an event, to be flushed later; does nothing once the file is closed. */
  void write(Object event, long start, long end) {
    if (types.isBelowThreshold(event, end - start)) {
      return; // Most decodes and transforms end here, so this check takes no lock.
    }
    Thread thread = Thread.currentThread();
    synchronized (lock) {
      if (closed) {
        return;
      }
      int before = waiting.size();
      if (before > MAX_WAITING) {
        lost.increment();
        return;
      }
      try {
        types.write(waiting, event, start, end, thread.getId());
      } catch (RuntimeException | OutOfMemoryError e) {
        // A thread of the program must not see the failure.
        waiting.cut(before);
        lost.increment();
        return;
      }
      if (!thread.getName().equals(threads.put(thread.getId(), thread.getName()))) {
        newThreads.put(thread.getId(), thread.getName());
      }
    }
  }

  /** Writes all waiting events; they are readable afterwards. */
  void flush() throws IOException {
    Map<Long, String> names;
    boolean isFull;
    synchronized (lock) {
      FlightBytes taken = waiting;
      waiting = flushed;
      flushed = taken;
      names = newThreads;
      newThreads = new LinkedHashMap<>();
      isFull = position + taken.size() - chunkStart > CHUNK_BYTES;
      if (isFull) {
        // Each chunk must be readable on its own.
        threads.clear();
      }
    }
    try {
      if (flushed.size() > 0 || constants == 0) {
        append(flushed);
        appendThreads(names);
        // Wraps around; skips FINISHED.
        writeHeader(++flushes == FINISHED ? ++flushes : flushes, COMPRESSED_INTEGERS);
        hasEvents |= flushed.size() > 0;
      }
    } finally {
      flushed.clear();
    }
    if (isFull) {
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

  /**
   * Keeps the readable part as a finished file after a failed write, or deletes the file if it has
   * no events.
   */
  void giveUp() {
    try {
      if (!hasEvents) {
        readable = 0;
        Files.deleteIfExists(path);
        return;
      }
      file.setLength(readable);
      if (readable > chunkStart) {
        position = readable;
        constants = readableConstants;
        writeHeader(FINISHED, (byte) (COMPRESSED_INTEGERS | LAST_CHUNK));
      }
    } catch (IOException e) {
      // The file is readable up to the last flush anyway.
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
    // Written before any field changes, because the write may fail and be retried.
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

  /**
   * Appends the threads that are new or renamed since the last flush; a chunk needs at least one
   * checkpoint event.
   */
  private void appendThreads(Map<Long, String> names) throws IOException {
    if (names.isEmpty() && constants != 0) {
      return;
    }
    long at = position - chunkStart;
    checkpoint.clear();
    types.writeThreads(checkpoint, constants == 0 ? 0 : constants - at, names);
    append(checkpoint);
    constants = at;
  }

  /** Writes the chunk's header, which makes the chunk readable up to the current position. */
  private void writeHeader(byte state, byte features) throws IOException {
    ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
    header.put(MAGIC);
    header.putShort((short) 2).putShort((short) 1); // format version 2.1
    header.putLong(position - chunkStart); // size of the chunk
    header.putLong(constants);
    header.putLong(HEADER_BYTES); // offset of the metadata
    header.putLong(originTime + chunkNanos - originNanos); // start, in nanoseconds since 1970
    header.putLong(System.nanoTime() - chunkNanos);
    header.putLong(chunkNanos);
    header.putLong(TimeUnit.SECONDS.toNanos(1)); // ticks per second
    header.put(state).put((byte) 0).put((byte) 0).put(features);
    write(header.array(), HEADER_BYTES, chunkStart);
    readable = position;
    readableConstants = constants;
  }
}
