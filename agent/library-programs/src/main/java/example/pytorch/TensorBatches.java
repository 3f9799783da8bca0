package example.pytorch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.bytedeco.pytorch.Tensor;

/** Batches in PyTorch's memory, for one epoch. */
final class TensorBatches implements Iterator<Tensor> {
  private final List<Path> files;
  private final int size;
  private int next;

  TensorBatches(List<Path> files, int size) {
    this.files = List.copyOf(files);
    this.size = size;
  }

  @Override
  public boolean hasNext() {
    return next < files.size();
  }

  @Override
  public Tensor next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    int rows = Math.min(size, files.size() - next);
    float[] values = new float[rows * (TorchLoop.FEATURES + 1)];
    for (int row = 0; row < rows; row++) {
      try {
        ByteBuffer.wrap(Files.readAllBytes(files.get(next++)))
            .asFloatBuffer()
            .get(values, row * (TorchLoop.FEATURES + 1), TorchLoop.FEATURES + 1);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return Tensor.create(values, rows, TorchLoop.FEATURES + 1);
  }
}
