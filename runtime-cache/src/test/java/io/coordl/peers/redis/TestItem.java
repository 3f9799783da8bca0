package io.coordl.peers.redis;

import io.coordl.items.ItemKey;
import io.coordl.store.Loader;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** An item whose bytes are derived from its number. */
record TestItem(long number, int length) {
  ItemKey key() {
    return ItemKey.of("/data/" + number, length, number, ItemKey.WHOLE);
  }

  byte[] content() {
    byte[] content = new byte[length];
    new SplittableRandom(number).nextBytes(content);
    return content;
  }

  /** Loads the item and counts the read. */
  Loader loader(AtomicInteger reads) {
    return (target, offset) -> {
      reads.incrementAndGet();
      System.arraycopy(content(), 0, target, offset, length);
      return true;
    };
  }

  static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(buffer.position(), bytes);
    return bytes;
  }
}
