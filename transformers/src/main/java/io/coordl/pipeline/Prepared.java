package io.coordl.pipeline;

import io.coordl.cache.PreparedStore;
import java.util.Set;

/**
 * {@code prepared=share}.
 *
 * @param trusted names of classes whose samples are the same each time, as the user says
 */
public record Prepared(PreparedStore store, Set<String> trusted) {
  public Prepared {
    trusted = Set.copyOf(trusted);
  }
}
