package io.coordl.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Sampler;
import ai.djl.translate.Batchifier;
import io.coordl.bridge.LibraryCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import java.lang.StackWalker.Option;
import java.lang.StackWalker.StackFrame;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code prep=coordinate}: the batches of every {@link DataIterable}, in three answers.
 *
 * <ul>
 *   <li>{@code Sampler.sample}, where a data iterable calls it: the sampler runs as it is, and its
 *       batches are handed out as {@link PassIndices}, which leave open which items they are.
 *   <li>{@code fetch}, of the library's iterables or the program's own: the first one of a pass
 *       begins it ({@link Pass}), for only then is it known what the batches are made with. Each is
 *       answered with the staged batch; if there is none, the program's own fetch runs, over the
 *       items of the order that all jobs have adopted.
 *   <li>{@code close} of a manager that the arrays of a pass belong to: it ends the pass first,
 *       since a thread of the agent may be working on them.
 * </ul>
 */
public final class CoordinatedBatches implements LibraryHooks {
  private static final StackWalker CALLERS = StackWalker.getInstance(Option.RETAIN_CLASS_REFERENCE);

  private final Passes passes;

  /**
   * Answers for one loader of DJL.
   *
   * @throws ReflectiveOperationException if the library is not the one this was compiled against
   */
  public CoordinatedBatches(Class<?> declaring, Services services)
      throws ReflectiveOperationException {
    Symbols.require(NDManager.class, NDManager.class, "newSubManager");
    Symbols.require(
        NDManager.class, NDArray.class, "create", Buffer.class, Shape.class, DataType.class);
    Symbols.require(NDManager.class, NDManager.class, "getParentManager");
    Symbols.require(NDArray.class, ByteBuffer.class, "toByteBuffer", boolean.class);
    Symbols.require(NDArray.class, NDArray.class, "duplicate");
    Symbols.require(DataType.class, int.class, "getNumOfBytes");
    Symbols.requireConstructor(
        Batch.class,
        NDManager.class,
        NDList.class,
        NDList.class,
        int.class,
        Batchifier.class,
        Batchifier.class,
        long.class,
        long.class,
        List.class);
    this.passes = new Passes(new IterableFields(), services);
  }

  @Override
  public @Nullable LibraryCall enter(
      String answer, Class<?> type, String method, Object self, Object[] arguments) {
    return switch (method) {
      case "sample" ->
          self instanceof Sampler sampler
                  && arguments[0] instanceof RandomAccessDataset dataset
                  && !passes.isMakingBatch()
                  && isForIterable(type)
              ? new Sampling(dataset, sampler)
              : null;
      case "fetch" ->
          self instanceof DataIterable iterable
                  && arguments[0] instanceof PassIndices indices
                  && indices.fetchFirst()
              ? indices.pass().fetch(iterable, indices, (Integer) arguments[1])
              : null;
      case "close" -> {
        passes.closing((NDManager) self);
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
                .dropWhile(frame -> !isSampling(frame, sampler))
                .skip(1)
                .findFirst()
                .map(caller -> caller.getDeclaringClass() == DataIterable.class)
                .orElse(false));
  }

  private static boolean isSampling(StackFrame frame, Class<?> sampler) {
    return frame.getDeclaringClass() == sampler && frame.getMethodName().equals("sample");
  }

  /** A sampler at the beginning of a pass. */
  private final class Sampling extends LibraryCall {
    private final RandomAccessDataset dataset;
    private final Sampler sampler;

    Sampling(RandomAccessDataset dataset, Sampler sampler) {
      this.dataset = dataset;
      this.sampler = sampler;
    }

    @Override
    public boolean answered() {
      return false;
    }

    @Override
    @SuppressWarnings("unchecked") // It is what a sampler returns.
    public @Nullable Object result(@Nullable Object own) {
      return own instanceof Iterator<?> batches
          ? new SampledBatches(
              (Iterator<List<Long>>) batches, passes.over(dataset, sampler), dataset.size())
          : own;
    }
  }
}
