package io.coordl.pipeline;

import io.coordl.event.LayerEvent;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The layers of the model that a trainer changes, by the adapter of the library that its class is
 * of; none if that is not known. Never throws.
 */
public final class LibraryLayers implements Function<Object, List<LayerEvent>> {
  /** Those who make steps, and who knows their models. */
  private final LibraryAdapters<Function<Object, List<LayerEvent>>> adapters =
      new LibraryAdapters<>(
          Function.class,
          Map.of(
              "ai.djl.training.Trainer", "io.coordl.djl.BlockLayers",
              "org.deeplearning4j.optimize.Solver", "io.coordl.dl4j.NetworkLayers"));

  @Override
  public List<LayerEvent> apply(Object trainer) {
    try {
      @Nullable Function<Object, List<LayerEvent>> adapter = adapters.of(trainer);
      return adapter == null ? List.of() : adapter.apply(trainer);
    } catch (RuntimeException | LinkageError e) {
      return List.of();
    }
  }
}
