package io.coordl.peers.redis;

import io.coordl.items.ItemKey;
import io.coordl.store.Fetched;
import io.coordl.store.ItemStore;
import io.coordl.store.Loader;
import io.coordl.store.Outcome;
import java.nio.ByteBuffer;

/** The store of a host without room. */
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
