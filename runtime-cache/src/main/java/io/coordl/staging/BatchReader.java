package io.coordl.staging;

import java.io.IOException;
import java.nio.ByteBuffer;

/** What a job makes of the bytes of a batch that it copies; used by one thread. */
@FunctionalInterface
public interface BatchReader<T> {
  /**
   * Reads a batch.
   *
   * @param bytes direct, page aligned, of native order, from 0 to their number, to be read only;
   *     they are what they are for the time of this call, and another batch soon after, so that
   *     neither the buffer nor any address in it may be kept
   */
  T read(ByteBuffer bytes) throws IOException;
}
