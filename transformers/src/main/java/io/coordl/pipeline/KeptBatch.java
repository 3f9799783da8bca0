package io.coordl.pipeline;

import io.coordl.profile.Batches;
import io.coordl.staging.BatchReader;
import io.coordl.staging.PreparedBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of a batch, to be replayed in a profile. Refers to the program's objects only through
 * its reader.
 *
 * @param reader makes a batch with its own memory from the bytes
 */
public record KeptBatch(int samples, ByteBuffer bytes, BatchReader<?> reader)
    implements Batches.Kept {
  /** Copies a batch; throws if it is too large for a buffer. */
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
