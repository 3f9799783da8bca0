package io.coordl.partition;

import io.coordl.cache.ItemStore;
import java.io.Closeable;

/**
 * The memory of several hosts: that of this host first, then that of others, then, once for all
 * hosts as far as they can agree on that, storage; then the item is kept where there is room.
 * Opening one returns at once; until it is up, and whenever others are dead, slow or full, it is as
 * if they held nothing. Each call is bounded by the engine's own deadline.
 */
public interface Engine extends ItemStore, Closeable {
  /** Leaves the others; what was kept for them is theirs no more. Does not throw. */
  @Override
  void close();
}
