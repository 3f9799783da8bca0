package io.coordl.coordination;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Copies a staged batch into the job's own memory; used by one thread. */
@FunctionalInterface
public interface BatchReader<T> {
  /**
   * Reads a batch.
   *
   * @param bytes the batch, from position 0 to its length, in a direct, read-only, page-aligned
   *     buffer in native byte order. Valid only during this call; the slot may then be reused, so
   *     retain neither the buffer nor an address in it
   */
  T read(ByteBuffer bytes) throws IOException;
}
