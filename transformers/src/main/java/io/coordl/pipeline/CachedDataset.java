package io.coordl.pipeline;

import org.jspecify.annotations.Nullable;

/**
 * A data set of the agent that returns samples of the program's data set. The interface is outside
 * the libraries' packages, because each interceptor has its own copy of their classes.
 */
public interface CachedDataset {
  /** Returns the program's data set; null if the samples have been transformed, too. */
  @Nullable Object own();
}
