package io.coordl.pipeline;

import java.util.Map;
import java.util.UUID;
import java.util.WeakHashMap;

/**
 * Gives each object a name that no other object has, in this process or another. Thread-safe.
 *
 * @param <T> a class that compares objects by identity
 */
final class ObjectNames<T> {
  private final Map<T, String> names = new WeakHashMap<>();

  synchronized String get(T object) {
    return names.computeIfAbsent(object, none -> UUID.randomUUID().toString());
  }
}
