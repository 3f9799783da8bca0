package io.coordl.cache;

import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A file that the program's own stream reads, and of which nothing is known but its path: to ask
 * the file system about each file would be a third of what observing costs.
 */
final class ObservedItem extends OpenItem {
  private final StoreCounters counters;

  ObservedItem(String path, StoreCounters counters) {
    super(path, UNKNOWN_SIZE);
    this.counters = counters;
    counters.observed.increment();
  }

  @Override
  public @Nullable ByteBuffer content() {
    return null;
  }

  @Override
  public boolean served() {
    return false;
  }

  @Override
  public int read(long position, byte[] target, int offset, int length) {
    throw new IllegalStateException("an observed item is read by the program's own stream");
  }

  @Override
  public Origin origin() {
    return Origin.STORAGE;
  }

  @Override
  protected void release() {
    counters.bytes(Origin.STORAGE, transferred());
  }
}
