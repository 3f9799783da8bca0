package io.coordl.pipeline;

import io.coordl.coordination.PreparedBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Prepares one sample with the program's own code. Created for one call, used by its thread. */
public interface SampleMaker<S> {
  /** Runs stage 0; returns and throws as the program's code does. */
  @Nullable S get() throws Exception;

  /** Applies the transform of a stage, at least 1; throws as the program's code does. */
  S transform(int stage, S sample) throws Exception;

  /**
   * Returns the bytes of a sample, which the program still owns.
   *
   * @param files entries without values that identify the files that were read, to append to the
   *     layout after the sample's arrays
   * @return null if an equal sample cannot be created from bytes
   */
  @Nullable PreparedBatch bytes(S sample, List<BatchLayout.Array> files);

  /**
   * Whether the values of samples are read together with those of their batch, for example from a
   * device. The result of {@link #bytes} is then passed to {@link #readLater} instead of being
   * written.
   */
  default boolean readsValuesLater() {
    return false;
  }

  /**
   * Takes a prepared sample whose values are still to be read; once they are read, passes them to
   * {@code keeping}. Called on the thread that prepared the sample.
   */
  default void readLater(PreparedBatch unread, Keeping keeping) {
    throw new IllegalStateException("nothing is read later");
  }

  /** Caches a sample whose values were read later. */
  interface Keeping {
    /**
     * Caches the sample; must be called on the thread that prepared it.
     *
     * @param bytes the values, of the promised length
     * @param nanos time spent reading the values
     */
    void keep(PreparedBatch bytes, long nanos) throws IOException;
  }

  /** Creates a sample with its own memory. */
  S read(BatchLayout layout, ByteBuffer bytes) throws IOException;

  /** Whether {@link #probe} measures the cost of finding a sample. */
  default boolean isProbed() {
    return true;
  }

  /** Runs {@link #read} and discards the result, only to measure the time. */
  default void probe(BatchLayout layout, ByteBuffer bytes) throws IOException {
    read(layout, bytes);
  }
}
