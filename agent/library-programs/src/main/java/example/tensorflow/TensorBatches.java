package example.tensorflow;

import java.util.Iterator;
import org.tensorflow.ndarray.StdArrays;
import org.tensorflow.types.TFloat32;

/** Batches as tensors, for one epoch. */
final class TensorBatches implements Iterator<TFloat32> {
  private final Iterator<float[][]> rows;

  TensorBatches(Iterator<float[][]> rows) {
    this.rows = rows;
  }

  @Override
  public boolean hasNext() {
    return rows.hasNext();
  }

  @Override
  public TFloat32 next() {
    return TFloat32.tensorOf(StdArrays.ndCopyOf(rows.next()));
  }
}
