package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.pipeline.KeptBatch;
import io.coordl.pipeline.Services;
import io.coordl.profile.Batches;
import io.coordl.profile.Profile;
import io.coordl.staging.BatchReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** {@code profile=}: the batches that a DL4J program gets from its iterators of any class. */
public final class ProfiledBatches implements LibraryHooks, Batches {
  /**
   * Copies of one batch, used in turn. As with DL4J's own prefetch, which also reuses memory, a
   * program must not hold on to a batch for longer than this.
   */
  private static final int COPIES = 8;

  private final Profile profile;
  private final BatchSize size = new BatchSize();

  public ProfiledBatches(Class<?> declaring, Services services) {
    profile = Objects.requireNonNull(services.profile());
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    return profile.enter(this, self);
  }

  @Override
  public int samples(Object batch) {
    return (int) Math.max(1, size.applyAsLong(batch));
  }

  /** Neither held nor dropped: the iterator owns its memory, and makes two more batches first. */
  @Override
  public Kept keep(Object batch) {
    return KeptBatch.of(samples(batch), new BatchBytes(batch, () -> {}), new Copies());
  }

  /** Batches that reuse the memory of a few copies. */
  private static final class Copies implements BatchReader<Object> {
    private final @Nullable ByteBuffer[] copies = new @Nullable ByteBuffer[COPIES];
    private int next;

    @Override
    public Object read(ByteBuffer bytes) throws IOException {
      int number = next++ % COPIES;
      ByteBuffer copy = copies[number];
      if (copy == null) {
        copy = ByteBuffer.allocateDirect(bytes.capacity()).order(ByteOrder.nativeOrder());
        copies[number] = copy;
      }
      copy.put(0, bytes, 0, bytes.capacity());
      return BatchBytes.inPlace(copy);
    }
  }
}
