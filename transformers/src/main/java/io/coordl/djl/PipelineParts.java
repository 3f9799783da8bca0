package io.coordl.djl;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import io.coordl.pipeline.CannotShareException;
import io.coordl.staging.BatchOrder;
import io.coordl.staging.Fingerprint;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the batches of a data iterable are made of and with, part by part. */
final class PipelineParts {
  private PipelineParts() {}

  /**
   * The parts; content of files is told by their paths alone, since all jobs are on one host.
   *
   * @param sampler its description
   * @param order whose sizes of batches count, not their items
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
        "DJL "
            + Engine.getDjlVersion()
            + ", "
            + manager.getEngine().getEngineName()
            + " "
            + manager.getEngine().getVersion());
    parts.put("data set", dataset.getClass().getName());
    parts.put("number of items", Long.toString(dataset.size()));
    parts.put("batch size", order.batches() == 0 ? "none" : Integer.toString(order.end(0)));
    parts.put("number of batches", Integer.toString(order.batches()));
    parts.put("last batch", order.batches() == 0 ? "none" : lastSize(order));
    parts.put("sampler", sampler);
    parts.put("transforms", Description.of("transforms", fields.pipeline.get(iterable)));
    parts.put(
        "label transforms",
        Description.of("label transforms", fields.targetPipeline.get(iterable)));
    parts.put("batchifiers", batchifiers(fields, iterable));
    parts.put("device", (device == null ? manager.getDevice() : device).getDeviceType());
    parts.put("iterable", Description.of("iterable", iterable));
    parts.put("content", Description.of("data set", dataset));
    if (!isEven(order)) {
      parts.put("sizes of batches", sizes(order));
    }
    return new Fingerprint(parts);
  }

  private static String batchifiers(IterableFields fields, DataIterable iterable)
      throws CannotShareException {
    return Description.of("batchifier", fields.dataBatchifier.get(iterable))
        + " and "
        + Description.of("batchifier", fields.labelBatchifier.get(iterable));
  }

  private static String lastSize(BatchOrder order) {
    int last = order.batches() - 1;
    return Integer.toString(order.end(last) - (last == 0 ? 0 : order.end(last - 1)));
  }

  private static boolean isEven(BatchOrder order) {
    for (int i = 1; i < order.batches() - 1; i++) {
      if (order.end(i) != order.end(0) * (i + 1L)) {
        return false;
      }
    }
    return true;
  }

  private static String sizes(BatchOrder order) throws CannotShareException {
    int[] ends = new int[order.batches()];
    for (int i = 0; i < ends.length; i++) {
      ends[i] = order.end(i);
    }
    return Description.of("sizes of batches", ends);
  }
}
