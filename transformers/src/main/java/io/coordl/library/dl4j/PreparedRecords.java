package io.coordl.library.dl4j;

import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.PreparedSamples;
import io.coordl.pipeline.SampleMaker;
import io.coordl.pipeline.Worth;
import io.coordl.staging.PreparedBatch;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code prepared=share}: keeps whole batches, each identified by its records and the state of
 * their files. For one epoch; like the iterator, used by one thread at a time.
 */
final class PreparedRecords implements BatchSource {
  private final PreparedSamples samples;
  private final StagedIterator staged;
  private final ReaderPipeline pipeline;
  private final Worth worth;

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
  public @Nullable Object batch(int number) {
    return worth.isIt() ? made(number) : null;
  }

  /** The current key of a batch; two with equal keys are equal. */
  private record Known(PreparedSamples.Plan plan, DataFiles.Identity records) {
    long index() {
      return records.checksum() & Long.MAX_VALUE;
    }
  }

  private @Nullable Known known(int number) {
    PreparedSamples.Plan plan = samples.plan(staged);
    long start = System.nanoTime();
    DataFiles.Identity records = plan == null ? null : pipeline.identify(number);
    worth.look(System.nanoTime() - start);
    return plan == null || records == null ? null : new Known(plan, records);
  }

  private @Nullable Object made(int number) {
    Known known = known(number);
    if (known == null) {
      return null;
    }
    isFinished = known.plan.kept() > 1;
    if (!isFinished) {
      staged.leavePreprocessor();
    }
    try {
      Maker maker = new Maker(number, known.records);
      return samples.sample(known.plan, known.index(), known.records.stamp(), maker);
    } catch (Exception | Error e) {
      return null;
    }
  }

  @Override
  public @Nullable Object state(int number) {
    return worth.isIt() ? known(number) : null;
  }

  @Override
  public boolean isKnown(int number) {
    Known known = known(number);
    return known != null && samples.isKept(known.plan, known.index());
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
    private final DataFiles.Identity records;

    Maker(int number, DataFiles.Identity records) {
      this.number = number;
      this.records = records;
    }

    @Override
    public Object get() {
      return pipeline.make(number);
    }

    @Override
    public Object transform(int stage, Object batch) {
      staged.iterator().preprocess(batch);
      return batch;
    }

    @Override
    public @Nullable PreparedBatch bytes(Object batch, List<BatchLayout.Array> files) {
      BatchBytes bytes = BatchBytes.toKeep(batch, others(files));
      return records.equals(pipeline.identify(number)) && staged.isSteady() ? bytes : null;
    }

    /** The files that the batch's key does not cover. */
    private List<BatchLayout.Array> others(List<BatchLayout.Array> files) {
      Set<String> own = pipeline.paths(number);
      return files.stream().filter(file -> !own.contains(file.name())).toList();
    }

    @Override
    public Object read(BatchLayout layout, ByteBuffer bytes) {
      return BatchBytes.copied(layout, bytes);
    }

    @Override
    public void probe(BatchLayout layout, ByteBuffer bytes) {
      BatchBytes.probe(layout, bytes);
    }
  }
}
