package io.coordl.partition;

import io.coordl.cache.Fetched;
import io.coordl.cache.ItemKey;
import io.coordl.cache.Loader;
import java.io.Closeable;
import java.io.IOException;

/**
 * The memory of several hosts. Opening one returns at once; until it is up, and whenever others are
 * dead, slow or full, it is as if they held nothing. Safe for concurrent use, on threads of the
 * program: each call is bounded by the engine's own deadline, never interruptible.
 */
public interface Engine extends Closeable {
  /**
   * The item's bytes: from the memory of another host, or by {@code loader}, once for all hosts as
   * far as they can agree on that; then kept where there is room.
   *
   * @param length the item's, in bytes
   * @return {@link io.coordl.cache.Outcome#PEER} with the bytes if another host had them, ADMITTED
   *     with the bytes if {@code loader} read them and some host keeps them now, FULL with the
   *     bytes or null if none does; HIT if they lie in memory of this host after all
   * @throws IOException what the loader threw, nothing else
   */
  Fetched fetch(ItemKey key, int length, Loader loader) throws IOException;

  /** Leaves the others; what was kept for them is theirs no more. Does not throw. */
  @Override
  void close();
}
