package io.coordl.pipeline;

/**
 * A data set of the agent that returns the samples of the program's data set. The interface is
 * outside the libraries' packages, because each interceptor has its own copy of their classes.
 */
public interface CachedDataset {
  /** Returns the program's data set. */
  Object own();
}
