package io.coordl.benchmarks.partition;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * Items known to both sides.
 *
 * @param count number of items
 * @param bytes length of each
 */
record Items(int count, int bytes) {
  byte[] content(int item) {
    byte[] content = new byte[bytes];
    new SplittableRandom(item).nextBytes(content);
    return content;
  }

  /** Returns all items in direct memory. */
  ByteBuffer[] direct() {
    ByteBuffer[] all = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      all[i] = ByteBuffer.allocateDirect(bytes).put(content(i)).flip().asReadOnlyBuffer();
    }
    return all;
  }

  /** Returns the first and last byte of an item in one number. */
  static int ends(byte first, byte last) {
    return (first & 0xff) << 8 | (last & 0xff);
  }

  /** Returns the first and last byte of {@code content} in one number. */
  static int ends(ByteBuffer content) {
    return ends(content.get(content.position()), content.get(content.limit() - 1));
  }

  /** Returns {@link #ends} of each item. */
  int[] expected() {
    int[] expected = new int[count];
    for (int i = 0; i < count; i++) {
      expected[i] = ends(ByteBuffer.wrap(content(i)));
    }
    return expected;
  }
}
