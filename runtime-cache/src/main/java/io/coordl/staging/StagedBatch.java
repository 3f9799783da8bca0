package io.coordl.staging;

import java.nio.ByteBuffer;

/**
 * A prepared batch, taken. Its bytes stay what they are until {@link #release}, or, if that is
 * never called, until the buffer is unreachable.
 *
 * @param bytes direct, page aligned, of native order, from 0 to their number; what is written here
 *     is seen by no other job
 * @param lease gives the slot back, once; must not reach the buffer
 */
public record StagedBatch(ByteBuffer bytes, Runnable lease) {
  /**
   * Gives the memory back, to be used for another batch: nothing may read or write {@link #bytes}
   * from now on. Thread-safe; the second call does nothing.
   */
  public void release() {
    lease.run();
  }
}
