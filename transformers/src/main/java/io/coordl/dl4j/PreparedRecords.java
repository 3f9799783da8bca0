package io.coordl.dl4j;

import io.coordl.cache.ItemKey;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.PreparedSamples;
import io.coordl.pipeline.SampleMaker;
import io.coordl.staging.PreparedBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * {@code prepared=share}: whole batches are kept, each known by the records it is made of and the
 * state of their files. One epoch's; used as the iterator is.
 */
final class PreparedRecords implements BatchSource {
  private final PreparedSamples samples;
  private final StagedIterator staged;
  private final ReaderPipeline pipeline;
  private boolean isFinished;
  private boolean wasFound;
  private boolean over;

  PreparedRecords(PreparedSamples samples, StagedIterator staged, ReaderPipeline pipeline) {
    this.samples = samples;
    this.staged = staged;
    this.pipeline = pipeline;
  }

  @Override
  public boolean begin(IteratorEpoch owner) {
    return samples.plan(staged) != null && pipeline.begin();
  }

  @Override
  public @Nullable Object batch(int number) throws IOException {
    PreparedSamples.Plan plan = samples.plan(staged);
    String records = plan == null ? null : pipeline.identify(number);
    if (plan == null || records == null) {
      return null;
    }
    isFinished = plan.kept() > 1;
    if (!isFinished) {
      staged.leavePreprocessor();
    }
    long index = ItemKey.of(records, 0, 0, ItemKey.WHOLE).low() & Long.MAX_VALUE;
    Maker maker = new Maker(number, records);
    try {
      Object batch = samples.sample(plan, index, maker);
      wasFound = !maker.made;
      return batch;
    } catch (Exception | LinkageError e) {
      return null;
    }
  }

  /** Where one was found, so will be the next; or else it is made, and throws what is to come. */
  @Override
  public boolean isKnown() {
    return wasFound;
  }

  @Override
  public void finish(Object batch) {
    if (!isFinished) {
      staged.iterator().preprocess(batch);
    }
  }

  @Override
  public boolean isOver() {
    return over;
  }

  @Override
  public void end() {
    over = true;
  }

  private final class Maker implements SampleMaker<Object> {
    private final int number;
    private final String records;
    private boolean made;

    /**
     * Makes one batch.
     *
     * @param records it is made of, as their files were
     */
    Maker(int number, String records) {
      this.number = number;
      this.records = records;
    }

    @Override
    public Object get() {
      made = true;
      return pipeline.make(number);
    }

    @Override
    public Object transform(int stage, Object batch) {
      staged.iterator().preprocess(batch);
      return batch;
    }

    @Override
    public @Nullable PreparedBatch bytes(Object batch, List<BatchLayout.Array> files) {
      try {
        return records.equals(pipeline.identify(number))
            ? new BatchBytes(batch, others(files), () -> {})
            : null;
      } catch (IllegalArgumentException e) {
        return null; // It is more than arrays.
      }
    }

    /** The files that do not decide already by what the batch is known. */
    private List<BatchLayout.Array> others(List<BatchLayout.Array> files) {
      Set<String> own = records.lines().collect(Collectors.toSet());
      return files.stream().filter(file -> !own.contains(file.name())).toList();
    }

    @Override
    public Object read(BatchLayout layout, ByteBuffer bytes) throws IOException {
      return BatchBytes.read(bytes, BatchBytes.Reading.COPIED);
    }
  }
}
