package io.coordl.library.dl4j;

import io.coordl.coordination.BatchReader;
import io.coordl.pipeline.LibraryBatches;
import io.coordl.pipeline.Services;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Converts DL4J's batches to bytes and back. Neither holds nor drops batches: the iterator owns
 * their memory, and prepares two more batches before it reuses that memory.
 */
public final class CopiedBatches implements LibraryBatches {
  /**
   * Number of copies of one batch, used in turn. As with DL4J's own prefetch, which also reuses
   * memory, a program must not use a batch after it has taken this many more.
   */
  private static final int COPIES = 8;

  private final BatchSize size = new BatchSize();

  public CopiedBatches(Class<?> declaring, Services services) {}

  @Override
  public long samples(Object batch) {
    return size.applyAsLong(batch);
  }

  @Override
  public Bytes bytes(Object batch) {
    return new Bytes(new BatchBytes(batch, () -> {}), new Copies());
  }

  /** Batches that reuse the memory of a few copies. */
  private static final class Copies implements BatchReader<Object> {
    private final @Nullable ByteBuffer[] copies = new @Nullable ByteBuffer[COPIES];
    private int next;

    @Override
    public Object read(ByteBuffer bytes) throws IOException {
      int number = next++ % COPIES;
      ByteBuffer copy = copies[number];
      if (copy == null) {
        copy = ByteBuffer.allocateDirect(bytes.capacity()).order(ByteOrder.nativeOrder());
        copies[number] = copy;
      }
      copy.put(0, bytes, 0, bytes.capacity());
      return BatchBytes.inPlace(copy);
    }
  }
}
