package io.coordl.profile;

/** A profile's operations on the batches of one training library. Called on the training thread. */
public interface Batches {
  /** Returns the number of samples of a batch, at least 1. */
  int samples(Object batch);

  /**
   * Copies a batch's bytes; throws with a reason for the user if it cannot be copied completely.
   */
  Kept keep(Object batch);

  /** Detaches a batch from its iterator, which may free its own batches on the next call. */
  default void hold(Object batch) {}

  /** Frees a batch that is not passed to the program. */
  default void drop(Object batch) {}

  /** A copy of a batch, from which any number of equal batches can be created. */
  interface Kept {
    int samples();

    /** Returns a batch with its own memory; throws if that fails. */
    Object make() throws Exception;
  }
}
