package io.coordl.library.dl4j;

import io.coordl.pipeline.LibraryField;
import java.util.function.UnaryOperator;
import org.nd4j.linalg.dataset.AsyncDataSetIterator;
import org.nd4j.linalg.dataset.AsyncMultiDataSetIterator;

/** Returns the iterator from which a prefetch thread of the library requests batches. */
public final class BackedIterator implements UnaryOperator<Object> {
  private static final String BACKED = "backedIterator";

  private final LibraryField<Object> ofDataSets;
  private final LibraryField<Object> ofMultiDataSets;

  public BackedIterator() throws NoSuchFieldException {
    ofDataSets = LibraryField.of(AsyncDataSetIterator.class, BACKED);
    ofMultiDataSets = LibraryField.of(AsyncMultiDataSetIterator.class, BACKED);
  }

  @Override
  public Object apply(Object iterator) {
    Object inner =
        iterator instanceof AsyncDataSetIterator
            ? ofDataSets.get(iterator)
            : iterator instanceof AsyncMultiDataSetIterator ? ofMultiDataSets.get(iterator) : null;
    return inner == null ? iterator : apply(inner);
  }
}
