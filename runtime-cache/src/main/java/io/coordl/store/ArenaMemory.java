package io.coordl.store;

import io.coordl.host.Contents;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of an arena, in segments of at most 1 GiB. Words are read and changed atomically;
 * everything else is written once by {@link #write} and never changed. Every access may throw an
 * {@link InternalError} if another program damages the memory ({@link
 * io.coordl.host.MappedLength}), and a {@link GivenBackException} if the memory was given back.
 * Safe for concurrent use.
 */
abstract class ArenaMemory implements Contents.Memory {
  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final VarHandle HALF_WORDS =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

  /** Not an address: there is no room. */
  static final long NO_ROOM = -1;

  private static final byte[] ZEROS = new byte[1 << 16];

  private final long capacity;

  ArenaMemory(long capacity) {
    this.capacity = capacity;
  }

  /**
   * The segment that begins at {@code number * stride()}; may be longer than the stride, so that
   * data that begins in one stride and ends in the next still lies in one segment.
   */
  abstract ByteBuffer segment(int number);

  /** Bytes from the beginning of a segment to that of the next. */
  abstract long stride();

  /**
   * The segment that {@code at} lies in, computed with constants or shifts because division is
   * slow.
   */
  abstract int number(long at);

  /** Offset within its segment. */
  abstract int within(long at);

  abstract long segmentBytes();

  /** Bytes that may be taken. */
  final long capacity() {
    return capacity;
  }

  /** No address is as high as this; above the capacity where segments leave gaps. */
  long end() {
    return capacity;
  }

  /** Takes the first bytes of a new arena; they are zero. */
  void begin(long bytes) throws IOException {
    writeZeros(0, bytes);
    set(ArenaDescriptor.TAIL, bytes);
  }

  /** Bytes taken. */
  long used() {
    return get(ArenaDescriptor.TAIL);
  }

  /** Whether this many bytes can still be taken. */
  boolean fits(long bytes) {
    return fit(get(ArenaDescriptor.TAIL), bytes) + ArenaDescriptor.align(bytes) <= capacity;
  }

  /** Takes bytes within one segment; returns their address, or {@link #NO_ROOM}. */
  long allocate(long bytes) throws IOException {
    while (true) {
      long tail = get(ArenaDescriptor.TAIL);
      long at = fit(tail, bytes);
      long end = at + ArenaDescriptor.align(bytes);
      if (end > capacity) {
        return NO_ROOM;
      }
      if (compareAndSet(ArenaDescriptor.TAIL, tail, end)) {
        return at;
      }
    }
  }

  /**
   * The first of the newest segments that together hold this many bytes; the first of all if they
   * hold fewer.
   */
  int newest(long bytes) {
    int from = number(used() - 1);
    while (from > 0 && held(from) < bytes) {
      from--;
    }
    return from;
  }

  /** Bytes taken in this segment and all later ones. */
  long held(int from) {
    return used() - from * stride();
  }

  /** Bytes still taken once this segment and all later ones are given back. */
  long left(int from) {
    return from * stride();
  }

  /** Whether other programs can find the memory. */
  boolean hasName() {
    return true;
  }

  /** Bytes given back that views still keep in memory. */
  long pinned() {
    return 0;
  }

  /**
   * Writes bytes where nothing was written before; throws if this part of the arena has no memory
   * or is closed.
   */
  abstract void write(long at, byte[] bytes, int offset, int length) throws IOException;

  @Override
  public abstract void close();

  final void writeZeros(long at, long length) throws IOException {
    for (long done = 0; done < length; done += ZEROS.length) {
      write(at + done, ZEROS, 0, (int) Math.min(ZEROS.length, length - done));
    }
  }

  /** The first place at or after {@code at} where {@code length} bytes lie in one segment. */
  final long fit(long at, long length) {
    long within = within(at);
    return within + length <= segmentBytes() ? at : at - within + stride();
  }

  @Override
  public final long get(long at) {
    return (long) WORDS.getVolatile(segmentOf(at), within(at));
  }

  /** Half a word of write-once data. */
  final int getInt(long at) {
    return (int) HALF_WORDS.get(segmentOf(at), within(at));
  }

  @Override
  public final void set(long at, long value) {
    check(at);
    WORDS.setVolatile(segmentOf(at), within(at), value);
  }

  final boolean compareAndSet(long at, long expected, long value) {
    check(at);
    return WORDS.compareAndSet(segmentOf(at), within(at), expected, value);
  }

  final long getAndAdd(long at, long delta) {
    check(at);
    return (long) WORDS.getAndAdd(segmentOf(at), within(at), delta);
  }

  /** Throws an {@link InternalError} if another program has removed the memory of this segment. */
  abstract void check(long at);

  /** Checks all segments. */
  final void check() {
    for (long at = 0; at < end(); at += stride()) {
      try {
        check(at);
      } catch (GivenBackException e) {
        return; // So were all later segments.
      }
    }
  }

  /**
   * Gives back this segment and all later ones: no new read or write uses them; reads under way
   * finish. A segment's memory is freed when the garbage collector finds no view of it.
   */
  abstract void giveBack(int from);

  final ByteBuffer view(long at, int length) {
    if (length == 0) { // It may begin where the last segment ends.
      return ByteBuffer.allocate(0).asReadOnlyBuffer();
    }
    return readable(number(at)).slice(within(at), length);
  }

  /** A read-only view of a segment, from which parts are handed out. */
  ByteBuffer readable(int number) {
    return segment(number).asReadOnlyBuffer();
  }

  private ByteBuffer segmentOf(long at) {
    return segment(number(at));
  }
}
