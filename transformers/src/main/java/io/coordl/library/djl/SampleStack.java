package io.coordl.library.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import io.coordl.gpu.PinnedMemory;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.Prefetcher;
import io.coordl.pipeline.PreparedSamples.Kept;
import io.coordl.pipeline.SampleThreads;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Stacks samples of equal shape as {@code Batchifier.STACK} does, but with a few native calls per
 * batch instead of several per sample, and with the threads of {@code prefetch=N}. Thread-safe.
 */
final class SampleStack {
  private static final int MAX_BYTES = 1 << 30;

  /** Maximum number of batches with locked pages; each thread that prepares batches uses one. */
  private static final int MAX_PINNED = 4;

  private static final int PAGE = 4096;

  /** An array of fewer bytes is copied by one thread, before another could start. */
  private static final int SMALL = 1 << 20;

  private final @Nullable PinnedMemory pinned;
  private final @Nullable Prefetcher prefetcher;

  private final Queue<ByteBuffer> locked = new ConcurrentLinkedQueue<>();

  /** Memory of the last batch, for reuse. */
  private final AtomicReference<@Nullable ByteBuffer> spare = new AtomicReference<>();

  SampleStack(@Nullable PinnedMemory pinned, @Nullable Prefetcher prefetcher) {
    this.pinned = pinned;
    this.prefetcher = prefetcher;
  }

  /**
   * Returns the layout of the batch; null if the samples' arrays differ in kind or shape, or if the
   * batch is too large.
   */
  static @Nullable BatchLayout layout(List<Kept> samples) {
    List<BatchLayout.Array> first = arrays(samples.get(0));
    List<BatchLayout.Array> stacked = new ArrayList<>();
    for (BatchLayout.Array array : first) {
      List<Long> shape = new ArrayList<>(array.shape());
      shape.add(0, (long) samples.size());
      stacked.add(
          new BatchLayout.Array(
              array.role(), array.type(), array.name(), shape, samples.size() * array.bytes()));
    }
    BatchLayout layout = new BatchLayout(stacked);
    if (layout.bytes() > MAX_BYTES
        || !samples.stream()
            .allMatch(
                sample ->
                    sample.layout().equals(samples.get(0).layout())
                        || arrays(sample).equals(first))) {
      return null;
    }
    return layout;
  }

  /**
   * Returns the bytes of the batch, as {@link BatchFrame} reads them; valid until {@link #free}.
   *
   * @throws Exception if a thread hangs
   */
  ByteBuffer bytes(BatchLayout layout, List<Kept> samples) throws Exception {
    ByteBuffer batch = memory((int) layout.bytes());
    layout.writeTo(batch);
    for (int i = 0; i < layout.arrays().size(); i++) {
      copy(samples, i, layout.values(batch, i));
    }
    return batch;
  }

  /**
   * Creates the arrays of one role in the engine's own memory.
   *
   * @param manager one for which {@link EngineMemory#isOf} is true
   * @return null if the engine does not expose that memory
   * @throws Exception if a thread hangs
   */
  @Nullable NDList arrays(NDManager manager, BatchLayout layout, List<Kept> samples, String role)
      throws Exception {
    NDList arrays = new NDList();
    for (int i = 0; i < layout.arrays().size(); i++) {
      BatchLayout.Array array = layout.arrays().get(i);
      if (array.role().equals(role)) {
        int number = i;
        NDArray made =
            EngineMemory.array(
                manager,
                new Shape(array.shape()),
                DataType.valueOf(array.type()),
                memory -> copy(samples, number, memory));
        if (made == null) {
          return null;
        }
        if (!array.name().isEmpty()) {
          made.setName(array.name());
        }
        arrays.add(made);
      }
    }
    return arrays;
  }

  /** Copies one array of each sample; in the target, the samples follow each other in order. */
  private void copy(List<Kept> samples, int array, ByteBuffer target) throws Exception {
    int length = target.remaining() / samples.size();
    SampleThreads.Work work =
        place -> {
          Kept sample = samples.get(place);
          target.slice(place * length, length).put(sample.layout().values(sample.bytes(), array));
        };
    Prefetcher.forEachSample(target.remaining() < SMALL ? null : prefetcher, samples.size(), work);
  }

  /**
   * Releases the bytes of a batch.
   *
   * @param copied whether they were copied to a device
   */
  void free(ByteBuffer batch, boolean copied) {
    if (copied && pinned != null && pinned.pin(batch, MAX_PINNED)) {
      locked.add(batch);
    } else {
      spare.set(batch);
    }
  }

  /** Returns the sample's arrays without its files, which come last. */
  private static List<BatchLayout.Array> arrays(Kept sample) {
    List<BatchLayout.Array> all = sample.layout().arrays();
    int count = 0;
    while (count < all.size() && all.get(count).bytes() > 0) {
      count++;
    }
    return all.subList(0, count);
  }

  /** Returns memory for a batch; the caller may use it until {@link #free}. */
  ByteBuffer memory(int length) {
    ByteBuffer memory = locked.poll();
    if (memory != null && memory.capacity() < length && pinned != null) {
      pinned.unpin(memory);
      memory = null;
    }
    if (memory == null) {
      memory = spare.getAndSet(null);
    }
    if (memory == null || memory.capacity() < length) {
      memory =
          pinned == null
              ? ByteBuffer.allocateDirect(length)
              : ByteBuffer.allocateDirect((length + PAGE - 1 & -PAGE) + PAGE).alignedSlice(PAGE);
    }
    return memory.clear().limit(length).order(ByteOrder.nativeOrder());
  }
}
