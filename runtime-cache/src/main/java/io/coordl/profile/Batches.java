package io.coordl.profile;

/** A profile's operations on the batches of one training library. Called on the training thread. */
public interface Batches {
  /** Samples of a batch, at least 1. */
  int samples(Object batch);

  /**
   * Copies a batch's bytes; throws with a reason for the user if it cannot be copied completely.
   */
  Kept keep(Object batch);

  /** Makes a batch outlive its iterator, which may free its own batches on the next call. */
  default void hold(Object batch) {}

  /** Frees a batch that is not passed to the program. */
  default void drop(Object batch) {}

  /** A copy of a batch, from which any number of equal batches can be made. */
  interface Kept {
    int samples();

    /** Returns a batch with its own memory; throws if it cannot be made. */
    Object make() throws Exception;
  }
}
