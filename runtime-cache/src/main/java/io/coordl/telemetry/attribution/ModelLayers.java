package io.coordl.telemetry.attribution;

import io.coordl.telemetry.event.LayerEvent;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Records the layers of the first {@value #MAX_MODELS} models, each once, at its first step.
 * Thread-safe.
 */
final class ModelLayers {
  private static final int MAX_MODELS = 16;
  private static final int MAX_LAYERS = 10_000;

  private final EventLog events;

  /** Number of the first model with the same layers, by trainer. */
  private final Map<Object, Integer> known = new WeakHashMap<>();

  private final Map<String, Integer> kinds = new HashMap<>();
  private volatile Function<Object, List<LayerEvent>> layers = trainer -> List.of();
  private volatile Last last = new Last(new WeakReference<>(null), 0);
  private int models;

  ModelLayers(EventLog events) {
    this.events = events;
  }

  void knownBy(Function<Object, List<LayerEvent>> reader) {
    layers = reader;
  }

  private record Last(WeakReference<Object> trainer, int model) {}

  /**
   * Records the layers of the model that a step of {@code trainer} is about to change, unless
   * known.
   *
   * @return number of the first model with the same layers; 0 if unknown
   */
  int step(@Nullable Object trainer) {
    Last before = last;
    if (trainer == null) {
      return 0;
    }
    if (!before.trainer.refersTo(trainer)) {
      before = new Last(new WeakReference<>(trainer), model(trainer));
      last = before;
    }
    return before.model;
  }

  private int model(Object trainer) {
    int number;
    synchronized (this) {
      Integer seen = known.get(trainer);
      if (seen != null || models == MAX_MODELS) {
        return seen == null ? 0 : seen;
      }
      number = ++models;
      known.put(trainer, 0);
    }
    List<LayerEvent> all = layers.apply(trainer);
    StringBuilder kind = new StringBuilder();
    int place = 0;
    for (LayerEvent layer : all.subList(0, Math.min(MAX_LAYERS, all.size()))) {
      layer.model = number;
      layer.place = ++place;
      kind.append(layer.layer).append(' ').append(layer.type).append(' ');
      kind.append(layer.parameters).append(' ').append(layer.inputs).append('\n');
      events.write(layer);
    }
    synchronized (this) {
      int first = all.isEmpty() ? 0 : kinds.computeIfAbsent(kind.toString(), absent -> number);
      known.put(trainer, first);
      return first;
    }
  }
}
