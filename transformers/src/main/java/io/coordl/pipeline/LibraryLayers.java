package io.coordl.pipeline;

import io.coordl.telemetry.event.LayerEvent;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The layers of the model that a trainer trains, as reported by the adapter of the trainer's class;
 * none if unknown. Never throws.
 */
public final class LibraryLayers implements Function<Object, List<LayerEvent>> {
  private final LibraryAdapters<Function<Object, List<LayerEvent>>> adapters;

  /**
   * Uses these adapters.
   *
   * @param adapters names of the adapter classes, keyed by the names of the classes that run steps
   */
  public LibraryLayers(Map<String, String> adapters) {
    this.adapters = new LibraryAdapters<>(Function.class, adapters);
  }

  @Override
  public List<LayerEvent> apply(Object trainer) {
    return adapters.call(trainer, adapter -> adapter.apply(trainer)).orElse(List.of());
  }
}
