package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.DataIterable;
import ai.djl.translate.StackBatchifier;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.pipeline.CheckedSamples;
import io.coordl.pipeline.Checksum;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * {@code prepared=check} in DJL: computes a checksum of each sample of a batch that the program's
 * own call has fetched, after all transforms, unless all of them have been compared. Samples are
 * stacked, so each array holds a part of each sample.
 */
public final class CheckedBatches implements LibraryHooks {
  private final IterableFields fields = new IterableFields();
  private final CheckedSamples checked;

  public CheckedBatches(Class<?> dataIterable, Services services)
      throws ReflectiveOperationException {
    Symbols.require(CheckedBatches.class, PreparedBatches.class);
    checked = Objects.requireNonNull(services.checked());
  }

  @Override
  @SuppressWarnings("unchecked") // The argument types of DataIterable.fetch.
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    if (self.getClass() != DataIterable.class || !PreparedBatches.isPlain(arguments[0])) {
      return null;
    }
    DataIterable iterable = (DataIterable) self;
    List<Long> indices = (List<Long>) arguments[0];
    return InterceptedCall.after(
        own -> {
          if (own != null && own.getClass() == Batch.class) {
            check(iterable, indices, (Batch) own);
          }
          return own;
        });
  }

  private void check(DataIterable iterable, List<Long> indices, Batch batch) {
    CheckedSamples.Units units = checked.of(fields.dataset.require(iterable), iterable, "samples");
    if (units == null || indices.stream().noneMatch(units::wants)) {
      return;
    }
    String reason = reasonToLeave(iterable, indices.size(), batch);
    if (reason != null) {
      units.leave(reason);
      return;
    }
    long[] sums = new long[indices.size()];
    Arrays.fill(sums, Checksum.NONE);
    add(batch.getData(), sums);
    add(batch.getLabels(), sums);
    for (int i = 0; i < sums.length; i++) {
      units.made(indices.get(i), sums[i]);
    }
  }

  private @Nullable String reasonToLeave(DataIterable iterable, int size, Batch batch) {
    if (!isStack(fields.dataBatchifier.get(iterable))
        || !isStack(fields.labelBatchifier.get(iterable))) {
      return "its samples are not simply stacked into batches";
    }
    NDList all = new NDList(batch.getData()).addAll(batch.getLabels());
    for (NDArray array : all) {
      if (!array.getDevice().equals(Device.cpu())) {
        return "its batches are on a device";
      }
      if (array.getDataType() == DataType.STRING
          || array.isSparse()
          || array.getShape().dimension() == 0
          || array.getShape().get(0) != size) {
        return "its batches are not dense arrays of numbers with one row per sample";
      }
    }
    return null;
  }

  private static boolean isStack(@Nullable Object batchifier) {
    return batchifier != null && batchifier.getClass() == StackBatchifier.class;
  }

  /** Extends the checksum of each sample by its part of each array. */
  private static void add(NDList list, long[] sums) {
    for (NDArray array : list) {
      long[] shape = array.getShape().getShape();
      ByteBuffer bytes = array.toByteBuffer(true);
      int length = bytes.remaining() / sums.length;
      for (int i = 0; i < sums.length; i++) {
        long sum = Checksum.mix(sums[i], array.getDataType().name().hashCode());
        for (int dimension = 1; dimension < shape.length; dimension++) {
          sum = Checksum.mix(sum, shape[dimension]);
        }
        sums[i] = Checksum.mix(sum, bytes.slice(bytes.position() + i * length, length));
      }
    }
  }
}
