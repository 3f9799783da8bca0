package io.coordl.pipeline;

import org.jspecify.annotations.Nullable;

/** Batches that this job prepares itself and does not cache. */
record OwnBatches(LibraryEpoch epoch, Worth worth) implements EpochSource {
  @Override
  public boolean begin() {
    return worth.paysOff() && epoch.begin();
  }

  @Override
  public @Nullable Object batch(int number) {
    long start = System.nanoTime();
    try {
      if (!worth.paysOff() || !epoch.isSteady()) {
        return null;
      }
      Object batch = epoch.make(number);
      worth.made(System.nanoTime() - start);
      return batch;
    } catch (RuntimeException | LinkageError e) {
      return null;
    }
  }

  @Override
  public @Nullable Object state(int number) {
    return epoch.state(number);
  }

  @Override
  public void finish(Object batch) {
    epoch.handOver(batch);
  }

  @Override
  public boolean isOver() {
    return false;
  }

  @Override
  public void end() {
    epoch.ended();
  }
}
