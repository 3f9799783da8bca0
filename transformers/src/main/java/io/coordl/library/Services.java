package io.coordl.library;

import io.coordl.cache.DecodedStore;
import io.coordl.staging.Coordinator;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What the code that knows a library may use: what the policies in force need, null for the others.
 *
 * @param decoded for {@code decoded=share}
 * @param coordinator for {@code prep=coordinate}
 * @param ahead for {@code prefetch=N}
 * @param threads of the agent that prepare ahead, from 1 on; 0 if none was asked for
 * @param words takes sentences for the user
 */
public record Services(
    @Nullable DecodedStore decoded,
    @Nullable Coordinator coordinator,
    @Nullable Ahead ahead,
    int threads,
    Consumer<String> words) {

  /** What brings items ahead, null if nothing does. */
  public @Nullable ItemsAhead items() {
    return ahead == null ? null : ahead.items();
  }
}
