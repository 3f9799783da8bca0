package io.coordl.pipeline;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A {@link Worth} for each kind of pipelines, so that one that is made anew is known, and one that
 * is cheap to make says nothing of another. Of the kinds that were made last. Thread-safe.
 */
public final class Worths {
  private static final int KINDS = 256;

  private final Map<String, Worth> worths =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Worth> eldest) {
          return size() > KINDS;
        }
      };

  public synchronized Worth of(String kind, Supplier<Worth> first) {
    return worths.computeIfAbsent(kind, none -> first.get());
  }
}
