package io.coordl.pipeline;

import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Returns the program's data set behind an object that yields its batches, as found by the adapter
 * of that object's class; the object itself if there is none. Never throws.
 */
public final class LibraryDatasets implements UnaryOperator<Object> {
  private final LibraryAdapters<UnaryOperator<Object>> adapters;

  /**
   * Uses these adapters.
   *
   * @param adapters names of the adapter classes, by the names of the classes that yield batches
   */
  public LibraryDatasets(Map<String, String> adapters) {
    this.adapters = new LibraryAdapters<>(UnaryOperator.class, Map.copyOf(adapters));
  }

  @Override
  public Object apply(Object batches) {
    return adapters.call(batches, adapter -> adapter.apply(batches)).orElse(batches);
  }
}
