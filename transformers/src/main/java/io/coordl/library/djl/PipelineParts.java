package io.coordl.library.djl;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import io.coordl.coordination.BatchOrder;
import io.coordl.coordination.Fingerprint;
import io.coordl.pipeline.CannotShareException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.IntStream;

/** Describes the parts of a data iterable that determine its batches. */
final class PipelineParts {
  private PipelineParts() {}

  /**
   * Describes the parts. Files are described by their paths alone, because all jobs are on one
   * host.
   *
   * @param sampler description of the sampler
   * @param order only its batch sizes are used, not the items
   * @throws CannotShareException if a part cannot be described
   */
  static Fingerprint of(
      IterableFields fields, DataIterable iterable, String sampler, BatchOrder order)
      throws CannotShareException {
    RandomAccessDataset dataset = fields.dataset.require(iterable);
    NDManager manager = fields.manager.require(iterable);
    Device device = fields.device.get(iterable);
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put(
        "library",
        String.format(
            "DJL %s, %s %s",
            Engine.getDjlVersion(),
            manager.getEngine().getEngineName(),
            manager.getEngine().getVersion()));
    parts.put("data set", dataset.getClass().getName());
    parts.put("number of items", Long.toString(dataset.size()));
    parts.put("batch size", size(order, 0));
    parts.put("number of batches", Integer.toString(order.batches()));
    parts.put("last batch", size(order, order.batches() - 1));
    parts.put("sampler", sampler);
    parts.put("transforms", Description.of("transforms", fields.pipeline.get(iterable)));
    parts.put(
        "label transforms",
        Description.of("label transforms", fields.targetPipeline.get(iterable)));
    parts.put(
        "batchifiers",
        Description.of("batchifier", fields.dataBatchifier.get(iterable))
            + " and "
            + Description.of("batchifier", fields.labelBatchifier.get(iterable)));
    parts.put("device", (device == null ? manager.getDevice() : device).getDeviceType());
    parts.put("iterable", Description.of("iterable", iterable));
    parts.put("content", Description.of("data set", dataset));
    int[] ends = IntStream.range(0, order.batches()).map(order::end).toArray();
    if (IntStream.range(1, ends.length - 1).anyMatch(i -> ends[i] != ends[0] * (i + 1L))) {
      parts.put("sizes of batches", Description.of("sizes of batches", ends));
    }
    return new Fingerprint(parts);
  }

  private static String size(BatchOrder order, int batch) {
    return order.batches() == 0
        ? "none"
        : Integer.toString(order.end(batch) - (batch == 0 ? 0 : order.end(batch - 1)));
  }
}
