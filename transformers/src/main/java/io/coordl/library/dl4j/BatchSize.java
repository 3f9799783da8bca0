package io.coordl.library.dl4j;

import java.util.function.ToLongFunction;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.api.DataSet;
import org.nd4j.linalg.dataset.api.MultiDataSet;

/** The number of samples in a DL4J batch: the rows of its first features; 0 if it has none. */
public final class BatchSize implements ToLongFunction<Object> {
  @Override
  public long applyAsLong(Object batch) {
    if (batch instanceof DataSet one) {
      return one.numExamples();
    }
    INDArray[] features = ((MultiDataSet) batch).getFeatures();
    return features == null || features.length == 0 ? 0 : features[0].size(0);
  }
}
