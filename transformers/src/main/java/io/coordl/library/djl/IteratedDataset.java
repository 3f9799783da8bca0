package io.coordl.library.djl;

import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.RandomAccessDataset;
import io.coordl.pipeline.CachedDataset;
import io.coordl.pipeline.LibraryField;
import java.util.function.UnaryOperator;

/** Returns the program's data set that a {@link DataIterable} iterates over. */
public final class IteratedDataset implements UnaryOperator<Object> {
  private final LibraryField<RandomAccessDataset> dataset;

  public IteratedDataset() throws NoSuchFieldException {
    dataset = LibraryField.of(DataIterable.class, "dataset", RandomAccessDataset.class);
  }

  @Override
  public Object apply(Object iterable) {
    Object found = dataset.get((DataIterable) iterable);
    return found == null
        ? iterable
        : found instanceof CachedDataset cached ? cached.dataset() : found;
  }
}
