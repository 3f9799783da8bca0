package io.coordl.store;

import io.coordl.host.Closeables;
import io.coordl.host.MappedLength;
import io.coordl.host.OwnFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A file that is mapped as a whole when it is opened. Its length is the capacity; pages are
 * allocated when they are written.
 *
 * <p>Bytes are stored with write(2), not through the mapping: on a full tmpfs, that fails with an
 * error, but a write through a mapping is lost or raises SIGBUS. {@link RandomAccessFile} is used,
 * because an interrupt of the program's thread would close a channel. Segments overlap by {@link
 * #OVERLAP} bytes of address space, so no item crosses the end of its segment and no segment has a
 * gap at its end.
 */
final class MappedMemory extends ArenaMemory {
  private static final long SEGMENT = 1L << 30;

  /** More than the largest item and the largest table. */
  private static final long OVERLAP = 32L << 20;

  private static final long STRIDE = SEGMENT - OVERLAP;

  private final RandomAccessFile file;
  private final @Nullable ByteBuffer[] segments;

  private MappedMemory(RandomAccessFile file, @Nullable ByteBuffer[] segments, long capacity) {
    super(capacity);
    this.file = file;
    this.segments = segments;
  }

  /** Maps {@code capacity} bytes; the file is closed if that fails. */
  static MappedMemory map(Path path, long capacity) throws IOException {
    RandomAccessFile file = OwnFiles.open(path);
    try {
      if (file.length() < capacity) {
        file.setLength(capacity);
      }
      @Nullable ByteBuffer[] segments =
          new @Nullable ByteBuffer[(int) ((capacity + STRIDE - 1) / STRIDE)];
      for (int i = 0; i < segments.length; i++) {
        long from = i * STRIDE;
        segments[i] =
            file.getChannel()
                .map(FileChannel.MapMode.READ_WRITE, from, Math.min(SEGMENT, capacity - from));
      }
      return new MappedMemory(file, segments, capacity);
    } catch (IOException | RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  @Override
  ByteBuffer segment(int number) {
    ByteBuffer segment = segments[number];
    if (segment == null) {
      throw new GivenBackException();
    }
    return segment;
  }

  @Override
  long stride() {
    return STRIDE;
  }

  @Override
  long segmentBytes() {
    return SEGMENT;
  }

  @Override
  int number(long at) {
    return (int) (at / STRIDE);
  }

  @Override
  int within(long at) {
    return (int) (at % STRIDE);
  }

  @Override
  void check(long at) {
    MappedLength.check(file, capacity());
  }

  /** Gives back all segments: a file that other jobs map cannot be freed in part. */
  @Override
  void giveBack(int from) {
    close();
    Arrays.fill(segments, null);
  }

  @Override
  void write(long at, byte[] bytes, int offset, int length) throws IOException {
    synchronized (file) {
      if (file.length() < capacity()) {
        check(at); // Throws: a write would extend the file again, with zeros for items.
      }
      file.seek(at);
      file.write(bytes, offset, length);
    }
  }

  /**
   * Closes the file after any write in progress; otherwise the write could go to a program file
   * that reuses the descriptor's number. The mapping stays for threads that still read from it,
   * until it is garbage.
   */
  @Override
  public void close() {
    synchronized (file) {
      Closeables.closeQuietly(file);
    }
  }
}
