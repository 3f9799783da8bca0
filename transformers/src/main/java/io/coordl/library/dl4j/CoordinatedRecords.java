package io.coordl.library.dl4j;

import io.coordl.pipeline.CoordinatedEpoch;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** {@code prep=coordinate}: batches that the jobs of a group prepare together. */
record CoordinatedRecords(CoordinatedEpoch epoch, ReaderPipeline pipeline) implements BatchSource {
  @Override
  public boolean begin(IteratorEpoch owner) {
    return epoch.begin(owner);
  }

  @Override
  public @Nullable Object batch(int number) throws IOException {
    Object staged = epoch.copied(number, BatchBytes::copiedOfStaged);
    if (staged != null) {
      return staged;
    }
    try {
      return epoch.alone(() -> pipeline.make(number));
    } catch (Exception | LinkageError e) {
      return null;
    }
  }

  @Override
  public void used() {
    epoch.used();
  }

  @Override
  public boolean isOver() {
    return epoch.isOver();
  }

  @Override
  public void end() {
    epoch.end();
  }
}
