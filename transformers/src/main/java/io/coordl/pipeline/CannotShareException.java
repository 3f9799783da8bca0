package io.coordl.pipeline;

/**
 * Thrown for a part that cannot be shared or compared with another job's, so the library handles
 * it. The message names that part for the user: "readers of streams", "batches with arrays of
 * text".
 */
public final class CannotShareException extends Exception {
  private static final long serialVersionUID = 1;

  public CannotShareException(String message) {
    super(message);
  }
}
