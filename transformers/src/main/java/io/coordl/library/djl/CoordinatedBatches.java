package io.coordl.library.djl;

import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Sampler;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.gpu.PinnedMemory;
import io.coordl.pipeline.CoordinatedEpoch;
import io.coordl.pipeline.EpochCoordinator;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import java.lang.StackWalker.Option;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * {@code prep=coordinate}: the batches of every {@link DataIterable}, at three methods.
 *
 * <ul>
 *   <li>{@code Sampler.sample}, where a data iterable calls it: the sampler runs as it is, and its
 *       batches are handed out as {@link SampledEpoch.Indices}, which leave open which items they
 *       are.
 *   <li>{@code fetch}, of the library's iterables or the program's own: the first one of an epoch
 *       begins it ({@link SampledEpoch}), for only then is it known what the batches are made with.
 *       Each gets the staged batch; if there is none, the program's own fetch runs, over the items
 *       of the order that all jobs have adopted.
 *   <li>{@code close} of a manager that the arrays of an epoch belong to: it ends the epoch first,
 *       since a thread of the agent may be working on them.
 * </ul>
 */
public final class CoordinatedBatches implements LibraryHooks {
  private static final StackWalker CALLERS = StackWalker.getInstance(Option.RETAIN_CLASS_REFERENCE);

  final IterableFields fields = new IterableFields();
  final EpochCoordinator epochs;

  final @Nullable PinnedMemory pinned;

  /** Of the agent that the user asked for. */
  final int threads;

  /**
   * Held by the thread that runs the program's code where the program expects one thread only: it
   * gave the iterable no executor, or one of a single thread.
   */
  final ReentrantLock oneThread = new ReentrantLock();

  public CoordinatedBatches(Class<?> declaring, Services services)
      throws ReflectiveOperationException {
    Symbols.require(BatchFrame.class, BatchArrays.class, PipelineParts.class, SampledEpoch.class);
    this.epochs = new EpochCoordinator("DJL", services);
    this.threads = services.threads();
    this.pinned = services.pinned();
  }

  /**
   * Whether this thread is just making a batch: an epoch that it needs for that is its own affair,
   * and cannot wait for another thread to make batches where only one may.
   */
  private boolean isMakingBatch() {
    return oneThread.isHeldByCurrentThread() || CoordinatedEpoch.isPreparing();
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    return switch (method) {
      case "sample" ->
          self instanceof Sampler sampler
                  && arguments[0] instanceof RandomAccessDataset dataset
                  && !isMakingBatch()
                  && isForIterable(type)
              ? InterceptedCall.after(own -> begin(dataset, sampler, own))
              : null;
      case "fetch" ->
          self instanceof DataIterable iterable
                  && arguments[0] instanceof SampledEpoch.Indices indices
                  && indices.fetchFirst()
              ? indices.fetch(iterable, (Integer) arguments[1])
              : null;
      case "close" -> {
        epochs.end(self);
        yield null;
      }
      default -> null;
    };
  }

  /** Whether the sampler that declares the running method was called by a data iterable itself. */
  private static boolean isForIterable(Class<?> sampler) {
    return CALLERS.walk(
        frames ->
            frames
                .dropWhile(
                    frame ->
                        frame.getDeclaringClass() != sampler
                            || !frame.getMethodName().equals("sample"))
                .skip(1)
                .findFirst()
                .map(caller -> caller.getDeclaringClass() == DataIterable.class)
                .orElse(false));
  }

  /** A sampler has begun an epoch. */
  @SuppressWarnings("unchecked") // It is what a sampler returns.
  private @Nullable Object begin(
      RandomAccessDataset dataset, Sampler sampler, @Nullable Object own) {
    if (!(own instanceof Iterator<?> batches)) {
      return own;
    }
    epochs.end(dataset); // One that was left before its end is over.
    return new SampledBatches(
        (Iterator<List<Long>>) batches, new SampledEpoch(this, dataset, sampler), dataset.size());
  }
}
