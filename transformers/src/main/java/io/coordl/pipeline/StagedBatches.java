package io.coordl.pipeline;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** {@code prep=coordinate}: batches that the jobs of a group prepare together. */
record StagedBatches(CoordinatedEpoch shared, LibraryEpoch epoch) implements EpochSource {
  @Override
  public boolean begin() {
    return shared.begin(this);
  }

  @Override
  public @Nullable Object batch(int number) throws IOException {
    Object staged = shared.stagedBatch(number, epoch::readStaged);
    if (staged != null) {
      return staged;
    }
    try {
      return shared.prepareAlone(() -> epoch.make(number));
    } catch (Exception | LinkageError e) {
      return null;
    }
  }

  @Override
  public void used() {
    shared.used();
  }

  @Override
  public boolean isOver() {
    return shared.isOver();
  }

  @Override
  public void end() {
    shared.end();
  }
}
