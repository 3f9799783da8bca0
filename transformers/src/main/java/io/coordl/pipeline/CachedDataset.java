package io.coordl.pipeline;

import org.jspecify.annotations.Nullable;

/**
 * A data set of the agent that returns samples of the program's data set. This interface is not in
 * the package of a library's adapters, because each interceptor loads its own copy of that package,
 * and all must share this type.
 */
public interface CachedDataset {
  /** Returns the program's data set. */
  Object dataset();

  /** Returns the program's data set; null if the returned samples are already transformed. */
  @Nullable Object own();
}
