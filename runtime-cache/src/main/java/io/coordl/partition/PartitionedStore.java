package io.coordl.partition;

import io.coordl.cache.Fetched;
import io.coordl.cache.ItemKey;
import io.coordl.cache.ItemStore;
import io.coordl.cache.Loader;
import io.coordl.cache.Outcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The store of this host, and behind it those of the others. */
public final class PartitionedStore implements ItemStore {
  private final ItemStore local;
  private final Engine engine;

  public PartitionedStore(ItemStore local, Engine engine) {
    this.local = local;
    this.engine = engine;
  }

  @Override
  public @Nullable ByteBuffer find(ItemKey key) {
    return local.find(key);
  }

  @Override
  public Fetched fetch(ItemKey key, int length, Loader loader) throws IOException {
    ByteBuffer content = local.find(key);
    return content == null ? engine.fetch(key, length, loader) : new Fetched(Outcome.HIT, content);
  }
}
