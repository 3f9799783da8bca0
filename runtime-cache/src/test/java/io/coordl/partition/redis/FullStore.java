package io.coordl.partition.redis;

import io.coordl.cache.Fetched;
import io.coordl.cache.ItemKey;
import io.coordl.cache.ItemStore;
import io.coordl.cache.Loader;
import io.coordl.cache.Outcome;
import java.nio.ByteBuffer;

/** A store of a host that has no room left for anything. */
final class FullStore implements ItemStore {
  @Override
  public ByteBuffer find(ItemKey key) {
    return null;
  }

  @Override
  public Fetched fetch(ItemKey key, int length, Loader loader) {
    return new Fetched(Outcome.FULL, null);
  }
}
