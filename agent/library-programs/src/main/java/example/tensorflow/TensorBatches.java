package example.tensorflow;

import java.util.Iterator;
import org.tensorflow.ndarray.StdArrays;
import org.tensorflow.types.TFloat32;

/** Batches as tensors, for one epoch. */
record TensorBatches(Iterator<float[][]> rows) implements Iterator<TFloat32> {
  @Override
  public boolean hasNext() {
    return rows.hasNext();
  }

  @Override
  public TFloat32 next() {
    return TFloat32.tensorOf(StdArrays.ndCopyOf(rows.next()));
  }
}
