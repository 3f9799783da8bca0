package io.coordl.staging;

import java.nio.ByteBuffer;

/** A batch that was prepared and is about to be staged; used by one thread. */
public interface PreparedBatch extends AutoCloseable {
  long bytes();

  /**
   * Writes it to at least {@link #bytes} bytes of direct memory from position 0, page aligned, of
   * native order.
   */
  void writeTo(ByteBuffer target);

  @Override
  default void close() {}
}
