package io.coordl.profile;

/**
 * Batches of one training library, as far as a profile handles them. Called on the training thread.
 */
public interface Batches {
  /** Samples of a batch, at least 1. */
  int samples(Object batch);

  /**
   * Takes a copy of a batch's bytes; throws with a reason for the user if it cannot be copied
   * whole.
   */
  Kept keep(Object batch);

  /**
   * Makes a batch outlive its iterator, which may free what is its own when it is asked for more.
   */
  default void hold(Object batch) {}

  /** Frees a batch that the program will not get. */
  default void drop(Object batch) {}

  /** A copy of a batch, from which any number of equal batches can be made. */
  interface Kept {
    int samples();

    /** A batch of its own memory; throws if it cannot be made. */
    Object make() throws Exception;
  }
}
