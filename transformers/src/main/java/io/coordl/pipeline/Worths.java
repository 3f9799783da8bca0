package io.coordl.pipeline;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A {@link Worth} for each kind of pipeline, so that a pipeline that is created again is
 * recognised, and a cheap one does not affect the verdict on another. Remembers only the most
 * recently created kinds. Thread-safe.
 */
public final class Worths {
  private static final int MAX_KINDS = 256;

  private final Map<String, Worth> worths =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Worth> eldest) {
          return size() > MAX_KINDS;
        }
      };

  public synchronized Worth of(String kind, Supplier<Worth> first) {
    return worths.computeIfAbsent(kind, none -> first.get());
  }
}
