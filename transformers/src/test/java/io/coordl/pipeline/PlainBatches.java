package io.coordl.pipeline;

import io.coordl.bridge.FileReads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;

/** A third library: batches of transformed samples of one byte, each from its own file. */
class PlainBatches implements Iterator<float[]> {
  /** A transform of the program. */
  interface Transform {
    float apply(int sample);
  }

  final List<Path> files;
  final Transform transform;
  Iterator<int[]> order;

  PlainBatches(List<Path> files, Transform transform, List<int[]> order) {
    this.files = files;
    this.transform = transform;
    this.order = order.iterator();
  }

  @Override
  public boolean hasNext() {
    return order.hasNext();
  }

  @Override
  public float[] next() {
    return fetch(order.next());
  }

  float[] fetch(int[] samples) {
    float[] batch = new float[samples.length];
    for (int i = 0; i < batch.length; i++) {
      batch[i] = transform.apply(load(files.get(samples[i]).toString()));
    }
    return batch;
  }

  int load(String file) {
    try {
      return FileReads.readAllBytes(Path.of(file))[0]; // The rewritten call.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the batch in these bytes. */
  static float[] of(ByteBuffer bytes) {
    float[] batch = new float[bytes.remaining() / Float.BYTES];
    bytes.asFloatBuffer().get(batch);
    return batch;
  }
}
