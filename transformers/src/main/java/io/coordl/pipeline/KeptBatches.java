package io.coordl.pipeline;

import io.coordl.coordination.PreparedBatch;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code prepared=share} where units are batches: caches each batch as a whole. */
final class KeptBatches implements EpochSource {
  private final PreparedSamples samples;
  private final LibraryEpoch epoch;
  private final Worth worth;

  /**
   * The variant of the latest batch. {@link #isKnown} uses it, because the library may ask about
   * the next batch outside the workspace in which it will request that batch.
   */
  private long variant;

  /** Whether the latest batch has already been handed over; {@link #finish} then does nothing. */
  private boolean isHandedOver;

  private boolean isOver;

  KeptBatches(PreparedSamples samples, LibraryEpoch epoch, Worth worth) {
    this.samples = samples;
    this.epoch = epoch;
    this.worth = worth;
  }

  @Override
  public LibraryEpoch epoch() {
    return epoch;
  }

  @Override
  public boolean begin() {
    return samples.plan(epoch) != null && epoch.begin();
  }

  @Override
  public @Nullable Object batch(int number) {
    return worth.paysOff() ? made(number) : null;
  }

  /** The current identity of a batch. Batches with equal identities are equal. */
  private record Known(PreparedSamples.Plan plan, LibraryEpoch.Key key, long index) {}

  private @Nullable Known known(int number, long variantOfBatch) {
    PreparedSamples.Plan plan = samples.plan(epoch);
    long start = System.nanoTime();
    LibraryEpoch.Key key = plan == null ? null : epoch.identify(number);
    worth.checked(System.nanoTime() - start);
    return plan == null || key == null ? null : new Known(plan, key, key.index(variantOfBatch));
  }

  private @Nullable Object made(int number) {
    variant = epoch.variant();
    Known known = known(number, variant);
    if (known == null) {
      return null;
    }
    isHandedOver = known.plan.kept() > 1;
    if (!isHandedOver) {
      epoch.leaveHandOver();
    }
    try {
      Maker maker = new Maker(number, known.key);
      return samples.sample(known.plan, known.index, known.key.stamp(), maker);
    } catch (Exception | Error e) {
      return null;
    }
  }

  @Override
  public @Nullable Object state(int number) {
    return worth.paysOff() ? known(number, epoch.variant()) : null;
  }

  @Override
  public boolean isKnown(int number) {
    Known known = known(number, variant);
    return known != null && samples.isKept(known.plan, known.index);
  }

  @Override
  public void finish(Object batch) {
    if (!isHandedOver) {
      epoch.handOver(batch);
    }
  }

  @Override
  public boolean isOver() {
    return isOver;
  }

  @Override
  public void end() {
    isOver = true;
    epoch.ended();
  }

  /** Prepares one batch as a sample of two stages; stage 1 is {@link LibraryEpoch#handOver}. */
  private final class Maker implements SampleMaker<Object> {
    private final int number;
    private final LibraryEpoch.Key key;

    Maker(int number, LibraryEpoch.Key key) {
      this.number = number;
      this.key = key;
    }

    @Override
    public Object get() {
      return epoch.make(number);
    }

    @Override
    public Object transform(int stage, Object batch) {
      epoch.handOver(batch);
      return batch;
    }

    @Override
    public @Nullable PreparedBatch bytes(Object batch, List<BatchLayout.Array> files) {
      PreparedBatch bytes = epoch.toKeep(number, batch, files);
      return key.equals(epoch.identify(number)) && epoch.isSteady() ? bytes : null;
    }

    @Override
    public Object read(BatchLayout layout, ByteBuffer bytes) {
      return epoch.read(layout, bytes);
    }

    @Override
    public void probe(BatchLayout layout, ByteBuffer bytes) {
      epoch.probe(layout, bytes);
    }
  }
}
