package io.coordl.cache;

import io.coordl.files.OwnFiles;
import io.coordl.shared.Closeables;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Memory of this process alone. Each segment is an unnamed file that is mapped when the memory is
 * created, so that no thread of the program has to map, which an interrupt would break. As in
 * {@link MappedMemory}, bytes are stored with write(2), and pages are allocated only as they are
 * written.
 *
 * <p>The JVM unmaps a segment that was given back once no view of it is reachable, and the kernel
 * frees the pages with the last mapping: no view ever reads missing pages.
 */
final class PrivateMemory extends ArenaMemory {
  private static final int MOST_SEGMENTS = 32;

  /** Larger than the largest item and the largest table. */
  private static final int SMALLEST_BITS = 25;

  private static final int LARGEST_BITS = 30;

  private final int bits;
  private final RandomAccessFile[] files;
  private final AtomicReferenceArray<@Nullable ByteBuffer> segments;

  /**
   * Maps {@code capacity} bytes. Each file is unlinked while it is empty, so that another starting
   * job does not take it for a leftover.
   */
  PrivateMemory(Path directory, long user, long capacity) throws IOException {
    super(capacity);
    int most = Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, capacity - 1) / MOST_SEGMENTS);
    bits = Math.max(SMALLEST_BITS, Math.min(LARGEST_BITS, most));
    files = new RandomAccessFile[(int) ((capacity + segmentBytes() - 1) >>> bits)];
    segments = new AtomicReferenceArray<>(files.length);
    try {
      for (int i = 0; i < files.length; i++) {
        files[i] = unnamed(directory, user);
        long bytes = bytes(i);
        files[i].setLength(bytes);
        segments.set(i, files[i].getChannel().map(FileChannel.MapMode.READ_WRITE, 0, bytes));
      }
    } catch (IOException | RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private static RandomAccessFile unnamed(Path directory, long user) throws IOException {
    Path path = Files.createTempFile(directory, "coordl-" + user + "-private-", ".arena");
    try {
      // The umask may have removed these permissions.
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
      return OwnFiles.open(path);
    } finally {
      Files.deleteIfExists(path);
    }
  }

  private long bytes(int number) {
    return Math.min(segmentBytes(), capacity() - ((long) number << bits));
  }

  @Override
  ByteBuffer segment(int number) {
    ByteBuffer segment = segments.get(number);
    if (segment == null) {
      throw new GivenBackException();
    }
    return segment;
  }

  @Override
  long stride() {
    return segmentBytes();
  }

  @Override
  long segmentBytes() {
    return 1L << bits;
  }

  @Override
  int number(long at) {
    return (int) (at >>> bits);
  }

  @Override
  int within(long at) {
    return (int) (at & (segmentBytes() - 1));
  }

  /** Nobody else can name the files, so their length never changes. */
  @Override
  void check(long at) {
    segment(number(at)); // Unless it was given back.
  }

  @Override
  void write(long at, byte[] bytes, int offset, int length) throws IOException {
    RandomAccessFile file = files[number(at)];
    synchronized (file) {
      check(at);
      file.seek(within(at));
      file.write(bytes, offset, length);
    }
  }

  @Override
  void giveBack(int from) {
    for (int i = from; i < files.length; i++) {
      segments.set(i, null);
    }
    close(from);
  }

  /**
   * Closes the files, each after any write under way: otherwise its bytes would go into whatever
   * file of the program next gets the descriptor's number. The mappings stay, for threads that
   * still read from them, until they are garbage.
   */
  @Override
  public void close() {
    close(0);
  }

  private void close(int from) {
    for (int i = from; i < files.length && files[i] != null; i++) {
      synchronized (files[i]) {
        Closeables.closeQuietly(files[i]);
      }
    }
  }
}
