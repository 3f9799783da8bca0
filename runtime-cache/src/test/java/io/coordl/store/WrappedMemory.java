package io.coordl.store;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Delegates to another memory; tests override the calls that should fail. */
class WrappedMemory extends ArenaMemory {
  final ArenaMemory memory;

  WrappedMemory(ArenaMemory memory) {
    super(memory.capacity());
    this.memory = memory;
  }

  @Override
  ByteBuffer segment(int number) {
    return memory.segment(number);
  }

  @Override
  void check(long at) {
    memory.check(at);
  }

  @Override
  void giveBack(int from) {
    memory.giveBack(from);
  }

  @Override
  void write(long at, byte[] bytes, int offset, int length) throws IOException {
    memory.write(at, bytes, offset, length);
  }

  @Override
  final int number(long at) {
    return memory.number(at);
  }

  @Override
  final int within(long at) {
    return memory.within(at);
  }

  @Override
  final long stride() {
    return memory.stride();
  }

  @Override
  final long segmentBytes() {
    return memory.segmentBytes();
  }

  @Override
  public void close() {
    memory.close();
  }
}
