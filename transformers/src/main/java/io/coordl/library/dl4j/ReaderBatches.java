package io.coordl.library.dl4j;

import io.coordl.pipeline.Worth;
import io.coordl.purity.PurityAnalyzer;
import org.jspecify.annotations.Nullable;

/**
 * Batches of the copied readers, of which none is kept. For one epoch; like the iterator, used by
 * one thread at a time.
 *
 * @param code tells whether the program's own code may run early
 */
record ReaderBatches(
    PurityAnalyzer code, StagedIterator staged, ReaderPipeline pipeline, Worth worth)
    implements BatchSource {
  @Override
  public boolean begin(IteratorEpoch owner) {
    return worth.isIt()
        && code.reasonToLeave(OwnCode.of(staged.readers())) == null
        && pipeline.begin();
  }

  @Override
  public @Nullable Object batch(int number) {
    long start = System.nanoTime();
    try {
      Object batch = worth.isIt() && staged.isSteady() ? pipeline.make(number) : null;
      worth.made(System.nanoTime() - start);
      return batch;
    } catch (RuntimeException | LinkageError e) {
      return null;
    }
  }

  @Override
  public @Nullable Object state(int number) {
    DataFiles.Identity records = staged.isSteady() ? pipeline.identify(number) : null;
    return records == null ? null : staged.text() + StagedIterator.told() + records;
  }

  @Override
  public void finish(Object batch) {
    staged.iterator().preprocess(batch);
  }

  @Override
  public boolean isOver() {
    return false;
  }

  @Override
  public void end() {
    pipeline.close();
  }
}
