package io.coordl.library.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import io.coordl.coordination.PreparedBatch;
import io.coordl.pipeline.BatchLayout;
import io.coordl.pipeline.SampleMaker;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Samples of one batch that are on a device and will be cached. Reading each sample would wait for
 * all pending work of the device each time, so the values are read once, from the stacked batch.
 * Not thread-safe.
 */
final class DeviceSamples {
  private final List<Sample> samples = new ArrayList<>();

  private record Sample(int place, BatchLayout layout, SampleMaker.Keeping keeping) {
    /** Returns the sample from the values of its batch. */
    PreparedBatch of(List<ByteBuffer> values) {
      return new PreparedBatch() {
        @Override
        public long bytes() {
          return layout.bytes();
        }

        @Override
        public void writeTo(ByteBuffer target) {
          layout.writeTo(target);
          for (int i = 0; i < values.size(); i++) {
            int length = Math.toIntExact(layout.arrays().get(i).bytes());
            layout.values(target, i).put(values.get(i).slice(place * length, length));
          }
        }
      };
    }
  }

  /**
   * Adds a sample that will be cached.
   *
   * @param place index in the batch, starting at 0
   */
  void add(int place, BatchLayout layout, SampleMaker.Keeping keeping) {
    samples.add(new Sample(place, layout, keeping));
  }

  /**
   * Caches the samples.
   *
   * @param data stacked data of the batch
   * @param labels stacked labels of the batch
   * @param count number of samples in the batch
   */
  void keep(NDList data, NDList labels, int count) throws IOException {
    if (samples.isEmpty()) {
      return;
    }
    long start = System.nanoTime();
    List<ByteBuffer> values = new ArrayList<>();
    for (NDArray array : new NDList(data).addAll(labels)) {
      values.add(array.toByteBuffer(true).slice());
    }
    long nanos = (System.nanoTime() - start) / samples.size();
    for (Sample sample : samples) {
      if (sample.layout.isStackedAs(values, count)) {
        sample.keeping.keep(sample.of(values), nanos);
      }
    }
    samples.clear();
  }
}
