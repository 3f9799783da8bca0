package example.pytorch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** Batches in Java's memory, for one epoch. */
final class ArrayBatches implements Iterator<Rows> {
  private final List<Path> files;
  private final int size;
  private int next;

  ArrayBatches(List<Path> files, int size) {
    this.files = List.copyOf(files);
    this.size = size;
  }

  @Override
  public boolean hasNext() {
    return next < files.size();
  }

  @Override
  public Rows next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    int rows = Math.min(size, files.size() - next);
    FloatBuffer features =
        ByteBuffer.allocateDirect(rows * TorchLoop.FEATURES * Float.BYTES)
            .order(ByteOrder.nativeOrder())
            .asFloatBuffer();
    float[] labels = new float[rows];
    for (int row = 0; row < rows; row++) {
      ByteBuffer bytes = read(files.get(next++));
      for (int i = 0; i < TorchLoop.FEATURES; i++) {
        features.put(bytes.getFloat());
      }
      labels[row] = bytes.getFloat();
    }
    return new Rows(features.rewind(), labels);
  }

  private static ByteBuffer read(Path file) {
    try {
      return ByteBuffer.wrap(Files.readAllBytes(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
