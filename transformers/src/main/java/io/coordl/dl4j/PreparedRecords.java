package io.coordl.dl4j;

import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.PreparedSamples;
import io.coordl.pipeline.SampleMaker;
import io.coordl.staging.PreparedBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code prepared=share}: whole batches are kept, each known by the records it is made of and the
 * state of their files. One epoch's; used as the iterator is.
 */
final class PreparedRecords implements BatchSource {
  private final PreparedSamples samples;
  private final StagedIterator staged;
  private final ReaderPipeline pipeline;
  private final Worth worth;

  /** What the program's code took of the batch that is being made. */
  private long making;

  private boolean isFinished;
  private boolean over;

  PreparedRecords(
      PreparedSamples samples, StagedIterator staged, ReaderPipeline pipeline, Worth worth) {
    this.worth = worth;
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
    long start = System.nanoTime();
    making = 0;
    Object batch = worth.isIt() ? made(number) : null;
    if (batch != null) {
      worth.taken(System.nanoTime() - start, making);
    }
    return batch;
  }

  private @Nullable Object made(int number) throws IOException {
    PreparedSamples.Plan plan = samples.plan(staged);
    Long records = plan == null ? null : pipeline.identify(number);
    if (plan == null || records == null) {
      return null;
    }
    isFinished = plan.kept() > 1;
    if (!isFinished) {
      staged.leavePreprocessor();
    }
    try {
      return samples.sample(plan, index(records), new Maker(number, records));
    } catch (Exception | Error e) {
      return null;
    }
  }

  @Override
  public @Nullable Object state(int number) {
    PreparedSamples.Plan plan = worth.isIt() ? samples.plan(staged) : null;
    Long records = plan == null ? null : pipeline.identify(number);
    return records == null ? null : List.of(plan, records);
  }

  @Override
  public boolean isKnown(int number) {
    PreparedSamples.Plan plan = samples.plan(staged);
    Long records = plan == null ? null : pipeline.identify(number);
    return plan != null && records != null && samples.isKept(plan, index(records));
  }

  private static long index(long records) {
    return records & Long.MAX_VALUE;
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
    pipeline.close();
  }

  private final class Maker implements SampleMaker<Object> {
    private final int number;
    private final Long records;

    Maker(int number, Long records) {
      this.number = number;
      this.records = records;
    }

    @Override
    public Object get() {
      long start = System.nanoTime();
      Object batch = pipeline.make(number);
      making += System.nanoTime() - start;
      return batch;
    }

    @Override
    public Object transform(int stage, Object batch) {
      long start = System.nanoTime();
      staged.iterator().preprocess(batch);
      making += System.nanoTime() - start;
      return batch;
    }

    @Override
    public @Nullable PreparedBatch bytes(Object batch, List<BatchLayout.Array> files) {
      BatchBytes bytes = BatchBytes.toKeep(batch, others(files));
      return records.equals(pipeline.identify(number)) && staged.isSteady() ? bytes : null;
    }

    /** The files that do not decide already by what the batch is known. */
    private List<BatchLayout.Array> others(List<BatchLayout.Array> files) {
      Set<String> own = pipeline.paths(number);
      return files.stream().filter(file -> !own.contains(file.name())).toList();
    }

    @Override
    public Object read(BatchLayout layout, ByteBuffer bytes) {
      return BatchBytes.read(layout, bytes, BatchBytes.Reading.COPIED);
    }
  }
}
