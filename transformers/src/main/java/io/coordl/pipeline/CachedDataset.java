package io.coordl.pipeline;

/**
 * A data set of the agent that returns the samples of the program's data set. The interface is not
 * in the package of a library's adapters, because each interceptor loads its own copy of that
 * package.
 */
public interface CachedDataset {
  /** Returns the program's data set. */
  Object own();
}
