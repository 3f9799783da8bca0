package io.coordl.reports.recording;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;

/**
 * The first {@value #LENGTH} bytes of a chunk. A recording is a sequence of self-contained chunks;
 * all numbers are big-endian.
 *
 * @param size bytes of the chunk, including this header; of an unfinished chunk, the bytes flushed
 * @param constants offset of the last group of constants in the chunk; 0 if there is none
 * @param metadata offset of the event descriptions in the chunk; 0 until the JVM first flushes the
 *     chunk
 * @param startNanos start of the chunk, in nanoseconds since 1970
 * @param startTicks the same in ticks of the clock that the events use
 * @param state {@value #FINISHED} if the JVM finished the chunk, else a number that each flush
 *     changes
 */
record ChunkHeader(
    long size, long constants, long metadata, long startNanos, long startTicks, byte state) {
  static final int LENGTH = 68;
  static final int FINISHED = 0;
  static final int STATE_OFFSET = 64;

  private static final int MAGIC = 'F' << 24 | 'L' << 16 | 'R' << 8;
  private static final int MAJOR_VERSION_OFFSET = 4;
  private static final int SIZE_OFFSET = 8;
  private static final int CONSTANTS_OFFSET = 16;
  private static final int METADATA_OFFSET = 24;
  private static final int START_NANOS_OFFSET = 32;
  private static final int START_TICKS_OFFSET = 48;
  private static final int FEATURES_OFFSET = 67;
  private static final int COMPRESSED_INTEGERS = 1;

  /** Returns whether a readable chunk starts at the buffer's position. */
  static boolean isAt(ByteBuffer bytes) {
    int at = bytes.position();
    short version = bytes.getShort(at + MAJOR_VERSION_OFFSET);
    return bytes.getInt(at) == MAGIC
        && (version == 1 || version == 2)
        && (bytes.get(at + FEATURES_OFFSET) & COMPRESSED_INTEGERS) != 0;
  }

  /** Reads the header at the buffer's position, which needs {@link #LENGTH} available bytes. */
  static ChunkHeader at(ByteBuffer bytes) {
    int at = bytes.position();
    return new ChunkHeader(
        bytes.getLong(at + SIZE_OFFSET),
        bytes.getLong(at + CONSTANTS_OFFSET),
        bytes.getLong(at + METADATA_OFFSET),
        bytes.getLong(at + START_NANOS_OFFSET),
        bytes.getLong(at + START_TICKS_OFFSET),
        bytes.get(at + STATE_OFFSET));
  }

  /**
   * Returns a key that is equal for copies of a chunk; the record's own hash code would take 40 ms
   * on first use.
   */
  List<Long> identity() {
    return List.of(size, constants, metadata, startNanos, startTicks, (long) state);
  }

  boolean isFinished() {
    return state == FINISHED;
  }

  /**
   * Writes this header's size and offset of constants into the header at {@code start}, and marks
   * that header as finished.
   */
  void writeFinished(FileChannel file, long start) throws IOException {
    ByteBuffer fields = ByteBuffer.allocate(2 * Long.BYTES).putLong(size).putLong(constants).flip();
    file.write(fields, start + SIZE_OFFSET);
    file.write(ByteBuffer.wrap(new byte[] {FINISHED}), start + STATE_OFFSET);
  }

  /** Returns whether the JVM never flushed the chunk, which then contains nothing to read. */
  boolean isBare() {
    return !isFinished() && (metadata == 0 || size < LENGTH);
  }
}
