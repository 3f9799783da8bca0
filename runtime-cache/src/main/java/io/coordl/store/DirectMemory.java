package io.coordl.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** Direct buffers of this process, allocated on demand. */
final class DirectMemory extends ArenaMemory {
  private static final int BITS = 26;
  private static final int SEGMENT = 1 << BITS;

  private final AtomicReferenceArray<ByteBuffer> segments;

  /** Number of segments that were not given back. */
  private volatile int left = Integer.MAX_VALUE;

  DirectMemory(long capacity) {
    super(capacity);
    this.segments = new AtomicReferenceArray<>((int) ((capacity + SEGMENT - 1) / SEGMENT));
  }

  @Override
  ByteBuffer segment(int number) {
    ByteBuffer segment = segments.get(number);
    if (segment == null) {
      if (number >= left) {
        throw new GivenBackException();
      }
      throw new IndexOutOfBoundsException("segment " + number + " was never written");
    }
    return segment;
  }

  @Override
  long stride() {
    return SEGMENT;
  }

  @Override
  long segmentBytes() {
    return SEGMENT;
  }

  @Override
  int number(long at) {
    return (int) (at >>> BITS);
  }

  @Override
  int within(long at) {
    return (int) at & (SEGMENT - 1);
  }

  @Override
  void check(long at) {}

  @Override
  synchronized void giveBack(int from) {
    left = from;
    for (int number = from; number < segments.length(); number++) {
      segments.set(number, null);
    }
  }

  @Override
  void write(long at, byte[] bytes, int offset, int length) throws IOException {
    int number = number(at);
    if (segments.get(number) == null) {
      allocate(number);
    }
    segment(number).put(within(at), bytes, offset, length);
  }

  private synchronized void allocate(int number) throws IOException {
    if (segments.get(number) != null || number >= left) {
      return;
    }
    try {
      long size = Math.min(SEGMENT, capacity() - (long) number * SEGMENT);
      segments.set(number, ByteBuffer.allocateDirect((int) size));
    } catch (OutOfMemoryError e) {
      throw new IOException("no direct memory left (raise -XX:MaxDirectMemorySize)", e);
    }
  }

  /** Keeps the buffers for threads that still read from them, until they are garbage. */
  @Override
  public void close() {}
}
