package io.coordl.store;

import io.coordl.host.Closeables;
import io.coordl.host.OwnFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.AccessController;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Memory of this process alone. Each segment is an unnamed file that is created and mapped when the
 * previous segment is full. As in {@link MappedMemory}, bytes are stored with write(2), and pages
 * are allocated only as they are written.
 *
 * <p>After a segment is given back, the JVM unmaps it as soon as no view of it is reachable, and
 * the kernel then frees its pages. So no view ever reads missing pages, but one view pins a whole
 * segment in memory. That is why segments are small: a 512th of the capacity, at least {@link
 * #MIN_SEGMENT}. A larger table or item has a segment to itself. A file is closed once it is
 * completely written, so that few descriptors are open.
 *
 * <p>Segments of any length begin at multiples of the stride: there are gaps between addresses, but
 * not in memory.
 */
final class PrivateMemory extends ArenaMemory {
  /** Two blocks of a large file, with their headers. */
  static final int MIN_SEGMENT = 2 * MinioCache.BLOCK + (4 << 10);

  private static final int MAX_SEGMENT = 1 << 30;
  private static final int PARTS = 512;

  /** The stride holds at least the largest item and the largest table. */
  private static final int MIN_BITS = 25;

  /** A segment, whose file is closed once the segment is full and all taken bytes are written. */
  private static final class Segment {
    private final RandomAccessFile file;
    private final int length;

    /** The file's position. Guarded by the segment. */
    private int position;

    // Guarded by the memory.
    private long taken;
    private long unwritten;
    private boolean full;

    Segment(RandomAccessFile file, int length) {
      this.file = file;
      this.length = length;
    }
  }

  /** A segment that was given back but that a view may still pin. */
  private record Dropped(WeakReference<ByteBuffer> memory, long bytes) {}

  private final Path directory;
  private final long user;
  private final int segmentBytes;
  private final int bits;
  private final AtomicReferenceArray<@Nullable ByteBuffer> views;

  /** Read-only views of the same segments. */
  private final AtomicReferenceArray<@Nullable ByteBuffer> readable;

  private final AtomicReferenceArray<@Nullable Segment> segments;
  private final List<Dropped> dropped = new ArrayList<>();
  private int last = -1;
  private boolean ended;
  private volatile long used;

  /** Creates memory of at most {@code capacity} bytes. */
  PrivateMemory(Path directory, long user, long capacity) throws IOException {
    super(capacity);
    this.directory = directory;
    this.user = user;
    segmentBytes = (int) Math.min(MAX_SEGMENT, Math.max(MIN_SEGMENT, capacity / PARTS));
    bits = Math.max(MIN_BITS, Integer.SIZE - Integer.numberOfLeadingZeros(segmentBytes - 1));
    // Two consecutive segments together hold more than the size of one.
    long maxSegments =
        Math.min(2 * (capacity / segmentBytes) + 2, ArenaDescriptor.MAX_CAPACITY >> bits);
    views = new AtomicReferenceArray<>((int) maxSegments);
    readable = new AtomicReferenceArray<>((int) maxSegments);
    segments = new AtomicReferenceArray<>((int) maxSegments);
  }

  @Override
  void begin(long bytes) throws IOException {
    try {
      allocate(bytes);
      writeZeros(0, bytes);
    } catch (IOException | RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  @Override
  boolean hasName() {
    return false;
  }

  @Override
  long used() {
    return used;
  }

  @Override
  boolean fits(long bytes) {
    return used + ArenaDescriptor.align(bytes) <= capacity();
  }

  @Override
  synchronized long allocate(long bytes) throws IOException {
    long taken = ArenaDescriptor.align(bytes);
    if (ended || used + taken > capacity()) {
      return NO_ROOM;
    }
    Segment segment = last < 0 ? null : segments.get(last);
    if (segment == null || segment.taken + taken > segment.length) {
      if (last + 1 == segments.length()) {
        return NO_ROOM;
      }
      int length = (int) Math.max(taken, Math.min(segmentBytes, capacity() - used));
      Segment next = create(last + 1, length);
      if (segment != null) {
        segment.full = true;
        closeIfWritten(segment);
      }
      last++;
      segment = next;
    }
    long at = ((long) last << bits) + segment.taken;
    segment.taken += taken;
    segment.unwritten += taken;
    used += taken;
    return at;
  }

  /**
   * May run on a program thread. An interrupt would close the file, so it is deferred until the
   * end.
   */
  private Segment create(int number, int length) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          return privileged(number, length);
        } catch (ClosedByInterruptException e) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Runs with the agent's permissions, because a program thread may lack some. */
  @SuppressWarnings("removal") // JDK 17 has security managers.
  private Segment privileged(int number, int length) throws IOException {
    if (System.getSecurityManager() == null) {
      return map(number, length);
    }
    PrivilegedExceptionAction<Segment> mapping = () -> map(number, length);
    try {
      return AccessController.doPrivileged(mapping);
    } catch (PrivilegedActionException e) {
      throw (IOException) e.getException();
    }
  }

  private Segment map(int number, int length) throws IOException {
    RandomAccessFile file = unnamed();
    try {
      file.setLength(length);
      ByteBuffer memory = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, length);
      readable.set(number, memory.asReadOnlyBuffer());
      views.set(number, memory);
    } catch (IOException | RuntimeException | Error e) {
      Closeables.closeQuietly(file);
      throw e;
    }
    Segment segment = new Segment(file, length);
    segments.set(number, segment);
    return segment;
  }

  /**
   * Creates a file and unlinks it while it is empty, so that no other job mistakes it for a
   * leftover.
   */
  private RandomAccessFile unnamed() throws IOException {
    Path path = Files.createTempFile(directory, "coordl-" + user + "-private-", ".arena");
    try {
      // The umask may have removed these permissions.
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
      return OwnFiles.open(path);
    } finally {
      Files.deleteIfExists(path);
    }
  }

  @Override
  ByteBuffer segment(int number) {
    return unlessGivenBack(views.get(number));
  }

  @Override
  ByteBuffer readable(int number) {
    return unlessGivenBack(readable.get(number));
  }

  private static ByteBuffer unlessGivenBack(@Nullable ByteBuffer segment) {
    if (segment == null) {
      throw new GivenBackException();
    }
    return segment;
  }

  @Override
  long end() {
    return (long) views.length() << bits;
  }

  @Override
  long stride() {
    return 1L << bits;
  }

  @Override
  long segmentBytes() {
    return segmentBytes;
  }

  @Override
  int number(long at) {
    return (int) (at >>> bits);
  }

  @Override
  int within(long at) {
    return (int) (at & (stride() - 1));
  }

  /** No other process can name the files, so their length never changes. */
  @Override
  void check(long at) {
    segment(number(at)); // Throws if it was given back.
  }

  @Override
  void write(long at, byte[] bytes, int offset, int length) throws IOException {
    Segment segment = segments.get(number(at));
    if (segment == null) {
      throw new GivenBackException();
    }
    synchronized (segment) {
      check(at);
      if (segment.position != within(at)) {
        segment.file.seek(within(at));
      }
      segment.position = -1; // Unknown unless the write completes.
      segment.file.write(bytes, offset, length);
      segment.position = within(at) + length;
    }
    synchronized (this) {
      segment.unwritten -= ArenaDescriptor.align(length);
      closeIfWritten(segment);
    }
  }

  private static void closeIfWritten(Segment segment) {
    if (segment.full && segment.unwritten == 0) {
      close(segment);
    }
  }

  /**
   * Closes a file after any write in progress: otherwise the bytes could go to a file of the
   * program that reuses the descriptor number.
   */
  private static void close(Segment segment) {
    synchronized (segment) {
      Closeables.closeQuietly(segment.file);
    }
  }

  @Override
  synchronized int newest(long bytes) {
    int from = last;
    long held = 0;
    while (from > 0 && (held += taken(from)) < bytes) {
      from--;
    }
    return from;
  }

  @Override
  synchronized long held(int from) {
    long held = 0;
    for (int i = from; i <= last; i++) {
      held += taken(i);
    }
    return held;
  }

  @Override
  long left(int from) {
    return used; // Nothing is taken any more.
  }

  private long taken(int number) {
    Segment segment = segments.get(number);
    return segment == null ? 0 : segment.taken;
  }

  @Override
  synchronized void giveBack(int from) {
    ended = true;
    for (int i = from; i <= last; i++) {
      readable.set(i, null);
      ByteBuffer memory = views.getAndSet(i, null);
      Segment segment = segments.getAndSet(i, null);
      if (memory != null && segment != null) {
        dropped.add(new Dropped(new WeakReference<>(memory), segment.taken));
        used -= segment.taken;
        close(segment);
      }
    }
  }

  @Override
  synchronized long pinned() {
    dropped.removeIf(one -> one.memory.refersTo(null));
    return dropped.stream().mapToLong(Dropped::bytes).sum();
  }

  /**
   * Closes the files; mappings stay until they are garbage, because threads may still read them.
   */
  @Override
  public synchronized void close() {
    ended = true;
    for (int i = 0; i <= last; i++) {
      Segment segment = segments.get(i);
      if (segment != null) {
        close(segment);
      }
    }
  }
}
