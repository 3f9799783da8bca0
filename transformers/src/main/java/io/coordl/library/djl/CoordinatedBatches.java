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
 * {@code prep=coordinate} for the batches of every {@link DataIterable}. Intercepts three methods.
 *
 * <ul>
 *   <li>{@code Sampler.sample}, if a data iterable calls it: the sampler runs unchanged, and its
 *       batches are returned as {@link SampledEpoch.Indices}, whose items are fixed later.
 *   <li>{@code fetch}, of the library's iterables or the program's own: the first call in an epoch
 *       begins it ({@link SampledEpoch}), because only then is it known how batches are prepared.
 *       Each call returns the staged batch; if there is none, the program's own fetch runs over the
 *       items of the order that all jobs adopted.
 *   <li>{@code close} of a manager that owns arrays of an epoch: ends the epoch first, because an
 *       agent thread may be using them.
 * </ul>
 */
public final class CoordinatedBatches implements LibraryHooks {
  private static final StackWalker CALLERS = StackWalker.getInstance(Option.RETAIN_CLASS_REFERENCE);

  final IterableFields fields = new IterableFields();
  final EpochCoordinator epochs;

  final @Nullable PinnedMemory pinned;

  /** Number of agent threads that the user requested; 0 if none. */
  final int threads;

  /**
   * Held by the thread that runs the program's code if only one may do so at a time: the iterable
   * has no executor, or a single-threaded one without {@code prefetch=N}.
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
   * Whether this thread is already preparing a batch. If so, an epoch that it begins is not shared:
   * if only one thread may prepare batches, this one cannot wait for another.
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
                  && indices.tryMarkFetched()
              ? indices.fetch(iterable, (Integer) arguments[1])
              : null;
      case "close" -> {
        epochs.end(self);
        yield null;
      }
      default -> null;
    };
  }

  /** Whether a data iterable itself called the sampler that declares the running method. */
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

  /** Called when a sampler has begun an epoch. */
  @SuppressWarnings("unchecked") // The type that a sampler returns.
  private @Nullable Object begin(
      RandomAccessDataset dataset, Sampler sampler, @Nullable Object own) {
    if (!(own instanceof Iterator<?> batches)) {
      return own;
    }
    epochs.end(dataset); // Also ends an epoch that the program left early.
    return new SampledBatches(
        (Iterator<List<Long>>) batches, new SampledEpoch(this, dataset, sampler), dataset.size());
  }
}
