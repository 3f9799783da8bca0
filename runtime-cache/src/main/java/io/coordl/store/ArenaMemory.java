package io.coordl.store;

import io.coordl.host.Contents;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of an arena, in segments of at most 1 GiB. Words are read and changed atomically; all
 * other bytes are written once by {@link #write} and never changed. Every access may throw an
 * {@link InternalError} if another program damages the memory ({@link
 * io.coordl.host.MappedLength}), and a {@link GivenBackException} if the memory was given back.
 * Safe for concurrent use.
 */
abstract class ArenaMemory implements Contents.Memory {
  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final VarHandle HALF_WORDS =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

  /** Result of {@link #allocate} if there is no room; not an address. */
  static final long NO_ROOM = -1;

  private static final byte[] ZEROS = new byte[1 << 16];

  private final long capacity;

  ArenaMemory(long capacity) {
    this.capacity = capacity;
  }

  /**
   * Returns the segment that begins at {@code number * stride()}. It may be longer than the stride,
   * so that data across the end of a stride is still in one segment.
   */
  abstract ByteBuffer segment(int number);

  /** Returns the distance in bytes between the starts of two segments. */
  abstract long stride();

  /**
   * Returns the number of the segment that contains {@code at}. Computed with constants or shifts,
   * because division is slow.
   */
  abstract int number(long at);

  /** Returns the offset of {@code at} in its segment. */
  abstract int within(long at);

  abstract long segmentBytes();

  /** Returns the number of bytes that can be allocated. */
  final long capacity() {
    return capacity;
  }

  /** Returns the exclusive upper bound of addresses; above the capacity if segments leave gaps. */
  long end() {
    return capacity;
  }

  /** Allocates the first bytes of a new arena, as zeros. */
  void begin(long bytes) throws IOException {
    writeZeros(0, bytes);
    set(ArenaDescriptor.TAIL, bytes);
  }

  /** Returns the number of allocated bytes. */
  long used() {
    return get(ArenaDescriptor.TAIL);
  }

  /** Whether this many bytes can still be allocated. */
  boolean fits(long bytes) {
    return fit(get(ArenaDescriptor.TAIL), bytes) + ArenaDescriptor.align(bytes) <= capacity;
  }

  /** Allocates bytes within one segment; returns their address, or {@link #NO_ROOM}. */
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
   * Returns the first of the newest segments that together contain this many bytes; segment 0 if
   * even all segments together contain fewer.
   */
  int newest(long bytes) {
    int from = number(used() - 1);
    while (from > 0 && held(from) < bytes) {
      from--;
    }
    return from;
  }

  /** Returns the bytes allocated in this segment and all later ones. */
  long held(int from) {
    return used() - from * stride();
  }

  /** Returns the bytes still allocated once this segment and all later ones are given back. */
  long left(int from) {
    return from * stride();
  }

  /** Whether other programs can find the memory. */
  boolean hasName() {
    return true;
  }

  /** Returns the bytes given back that views still keep in memory. */
  long pinned() {
    return 0;
  }

  /**
   * Writes bytes to an unwritten place; throws if there is no memory for it or the arena is closed.
   */
  abstract void write(long at, byte[] bytes, int offset, int length) throws IOException;

  @Override
  public abstract void close();

  final void writeZeros(long at, long length) throws IOException {
    for (long done = 0; done < length; done += ZEROS.length) {
      write(at + done, ZEROS, 0, (int) Math.min(ZEROS.length, length - done));
    }
  }

  /** Returns the first address, {@code at} or later, with {@code length} bytes in one segment. */
  final long fit(long at, long length) {
    long within = within(at);
    return within + length <= segmentBytes() ? at : at - within + stride();
  }

  @Override
  public final long get(long at) {
    return (long) WORDS.getVolatile(segmentOf(at), within(at));
  }

  /** Reads half a word of write-once data. */
  final int getInt(long at) {
    return (int) HALF_WORDS.get(segmentOf(at), within(at));
  }

  @Override
  public final void set(long at, long value) {
    check(at);
    WORDS.setVolatile(segmentOf(at), within(at), value);
  }

  boolean compareAndSet(long at, long expected, long value) {
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
        return; // All later segments were given back, too.
      }
    }
  }

  /**
   * Gives back this segment and all later ones. No new read or write uses them; reads in progress
   * finish. A segment's memory is freed once the garbage collector finds no view of it.
   */
  abstract void giveBack(int from);

  final ByteBuffer view(long at, int length) {
    if (length == 0) { // It may start at the end of the last segment.
      return ByteBuffer.allocate(0).asReadOnlyBuffer();
    }
    return readable(number(at)).slice(within(at), length);
  }

  /** Returns a read-only view of a segment, from which item views are sliced. */
  ByteBuffer readable(int number) {
    return segment(number).asReadOnlyBuffer();
  }

  private ByteBuffer segmentOf(long at) {
    return segment(number(at));
  }
}
