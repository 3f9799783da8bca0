package io.coordl.coordination;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Turns the bytes of a staged batch into a job's own copy; used by one thread. */
@FunctionalInterface
public interface BatchReader<T> {
  /**
   * Reads a batch.
   *
   * @param bytes direct, read-only, page aligned, in native byte order, from position 0 to the
   *     batch's length. They are valid only during this call; the slot is then reused, so keep
   *     neither the buffer nor an address in it
   */
  T read(ByteBuffer bytes) throws IOException;
}
