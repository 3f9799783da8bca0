package example.declared;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** Batches of rows of floats, one file per row; restarts after {@link #reset}. */
public final class Rows implements Iterator<float[][]> {
  private static final int ROUNDS = 40;

  private final List<Path> files;
  private final int batchSize;
  private int next;

  Rows(List<Path> files, int batchSize) {
    this.files = files;
    this.batchSize = batchSize;
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
    float[][] batch = new float[Math.min(batchSize, files.size() - next)][];
    for (int row = 0; row < batch.length; row++) {
      batch[row] = row(files.get(next++));
    }
    return batch;
  }

  /** Returns the row in a file, smoothed except for its first and last values. */
  static float[] row(Path file) {
    float[] row;
    try {
      ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
      row = new float[bytes.remaining() / Float.BYTES];
      bytes.asFloatBuffer().get(row);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 1; i < row.length - 1; i++) {
        row[i] = (float) Math.tanh(0.9 * row[i] + 0.1 * row[i - 1]);
      }
    }
    return row;
  }

  void reset() {
    next = 0;
  }
}
