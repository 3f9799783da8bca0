package io.coordl.pipeline;

/**
 * A data set of the agent that returns the samples of the program's data set. An interface outside
 * the libraries' folders, because each interceptor has its own copy of its library's classes.
 */
public interface CachedDataset {
  /** Returns the program's data set. */
  Object own();
}
