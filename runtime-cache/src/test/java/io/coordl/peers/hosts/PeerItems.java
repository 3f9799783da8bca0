package io.coordl.peers.hosts;

import io.coordl.items.ItemKey;
import java.util.SplittableRandom;

/** Items whose content is derived from their number, so that any reader can check it. */
final class PeerItems {
  static final String GROUP = "test";

  private PeerItems() {}

  static ItemKey key(int number) {
    return ItemKey.of("/data/" + number, length(number), 0, ItemKey.WHOLE);
  }

  static int length(int number) {
    return (int) (1 + number * 7919L % 20_000);
  }

  static byte[] content(int number) {
    byte[] bytes = new byte[length(number)];
    new SplittableRandom(number).nextBytes(bytes);
    return bytes;
  }
}
