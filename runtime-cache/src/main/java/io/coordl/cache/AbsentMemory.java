package io.coordl.cache;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Of an arena that is not there yet: zeros where the header will be, and no room. */
final class AbsentMemory extends ArenaMemory {
  private final ByteBuffer header = ByteBuffer.allocateDirect(ArenaDescriptor.HEADER_BYTES);

  @Override
  ByteBuffer segment(int number) {
    return header;
  }

  @Override
  long stride() {
    return ArenaDescriptor.HEADER_BYTES;
  }

  @Override
  long segmentBytes() {
    return ArenaDescriptor.HEADER_BYTES;
  }

  @Override
  long capacity() {
    return 0;
  }

  @Override
  void check() {}

  @Override
  void write(long at, byte[] bytes, int offset, int length) throws IOException {
    throw new IOException("the arena is not there yet");
  }

  @Override
  public void close() {}
}
