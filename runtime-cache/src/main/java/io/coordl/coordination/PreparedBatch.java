package io.coordl.coordination;

import java.nio.ByteBuffer;

/** A prepared batch, about to be staged; used by one thread. */
public interface PreparedBatch extends AutoCloseable {
  long bytes();

  /**
   * Writes the batch to {@code target} from position 0. The buffer is direct, page aligned and in
   * native byte order; it has room for at least {@link #bytes} bytes.
   */
  void writeTo(ByteBuffer target);

  @Override
  default void close() {}
}
