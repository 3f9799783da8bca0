package example.tensorflow;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** Batches of rows, for one epoch. */
final class ArrayBatches implements Iterator<float[][]> {
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
  public float[][] next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    float[][] rows = new float[Math.min(size, files.size() - next)][FlowLoop.FEATURES + 1];
    for (float[] row : rows) {
      try {
        ByteBuffer.wrap(Files.readAllBytes(files.get(next++))).asFloatBuffer().get(row);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return rows;
  }
}
