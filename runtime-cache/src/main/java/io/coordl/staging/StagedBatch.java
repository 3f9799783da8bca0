package io.coordl.staging;

import java.nio.ByteBuffer;

/**
 * A prepared batch, taken. Its bytes stay what they are until {@link #release}, or, if that is
 * never called, until the buffer is unreachable.
 */
public interface StagedBatch {
  /**
   * The bytes: direct, page aligned, of native order, from 0 to their number. What is written here
   * is seen by no other job (a copy-on-write mapping).
   */
  ByteBuffer bytes();

  /**
   * Gives the memory back, to be used for another batch: nothing may read or write {@link #bytes}
   * from now on. Thread-safe; the second call does nothing.
   */
  void release();
}
