package io.coordl.pipeline;

/**
 * What cannot be shared, or compared with another job's. The message says what or why, for the
 * user: "readers of streams", "its batches have arrays of text".
 */
public final class CannotShareException extends Exception {
  private static final long serialVersionUID = 1;

  /** With what cannot be shared, or why. */
  public CannotShareException(String message) {
    super(message);
  }
}
