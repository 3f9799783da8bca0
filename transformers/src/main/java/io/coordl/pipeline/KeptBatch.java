package io.coordl.pipeline;

import io.coordl.profile.Batches;
import io.coordl.staging.BatchReader;
import io.coordl.staging.PreparedBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of a batch, to be replayed in a profile. Refers to nothing of the program but by its
 * reader.
 *
 * @param reader makes a batch of its own memory of the bytes
 */
public record KeptBatch(int samples, ByteBuffer bytes, BatchReader<?> reader)
    implements Batches.Kept {
  /** Copies a batch; throws if it is larger than a buffer can be. */
  public static KeptBatch of(int samples, PreparedBatch batch, BatchReader<?> reader) {
    int length = Math.toIntExact(batch.bytes());
    ByteBuffer bytes = ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
    batch.writeTo(bytes);
    return new KeptBatch(samples, bytes.clear(), reader);
  }

  @Override
  public Object make() throws IOException {
    return reader.read(bytes.duplicate().order(ByteOrder.nativeOrder()));
  }
}
