package io.coordl.attribution;

import io.coordl.event.LayerEvent;
import java.lang.ref.WeakReference;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Records the layers of each model, once, at its first step. Thread-safe. */
final class ModelLayers {
  private static final int MOST_MODELS = 16;
  private static final int MOST_LAYERS = 10_000;

  private final EventLog events;
  private final Set<Object> known = Collections.newSetFromMap(new WeakHashMap<>());
  private volatile Function<Object, List<LayerEvent>> layers = trainer -> List.of();
  private volatile WeakReference<Object> last = new WeakReference<>(null);
  private int models;

  ModelLayers(EventLog events) {
    this.events = events;
  }

  void knownBy(Function<Object, List<LayerEvent>> knows) {
    layers = knows;
  }

  /** A step is about to change the model of {@code trainer}. */
  void step(@Nullable Object trainer) {
    if (trainer == null || last.refersTo(trainer)) {
      return;
    }
    last = new WeakReference<>(trainer);
    int number;
    synchronized (this) {
      if (models == MOST_MODELS || !known.add(trainer)) {
        return;
      }
      number = ++models;
    }
    List<LayerEvent> all = layers.apply(trainer);
    int place = 0;
    for (LayerEvent layer : all.subList(0, Math.min(MOST_LAYERS, all.size()))) {
      layer.model = number;
      layer.place = ++place;
      events.write(layer);
    }
  }
}
