package io.coordl.pipeline;

import io.coordl.staging.PreparedBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes one sample with the program's own code. Made for one call, used by its thread. */
public interface SampleMaker<S> {
  /** Stage 0: returns and throws what the program's code does. */
  @Nullable S get() throws Exception;

  /** What a transform makes of it, from stage 1 on; throws what the program's code throws. */
  S transform(int stage, S sample) throws Exception;

  /**
   * The bytes of a sample, which stays the program's.
   *
   * @param files parts of the layout that have no values, to come behind the sample's own
   * @return null if an equal sample cannot be made of bytes
   */
  @Nullable PreparedBatch bytes(S sample, List<BatchLayout.Array> files);

  /**
   * Whether the values of samples are read with those of their batch, as from a device: then {@link
   * #later} is called with what {@link #bytes} returns, and these are not written.
   */
  default boolean isLater() {
    return false;
  }

  /** Called once a sample is made, on its thread. */
  default void later(PreparedBatch unread, Keeping keeping) {
    throw new IllegalStateException("nothing is read later");
  }

  /** Keeps a sample whose values were read later. */
  interface Keeping {
    /**
     * Keeps it; to be called on the thread that made it.
     *
     * @param bytes of the length that was promised
     * @param nanos that reading its values took
     */
    void keep(PreparedBatch bytes, long nanos) throws IOException;
  }

  /** A sample of its own memory. */
  S read(BatchLayout layout, ByteBuffer bytes) throws IOException;

  /** Whether {@link #probe} measures what finding costs. */
  default boolean isProbed() {
    return true;
  }

  /** Does what {@link #read} does and discards the result, only to measure the time. */
  default void probe(BatchLayout layout, ByteBuffer bytes) throws IOException {
    read(layout, bytes);
  }
}
