package io.coordl.pipeline;

/**
 * Thrown for a part of a pipeline that cannot be shared, or compared with another job's; the
 * library then handles the part. The message names it for the user: "readers of streams", "batches
 * with arrays of text".
 */
public final class CannotShareException extends Exception {
  private static final long serialVersionUID = 1;

  public CannotShareException(String message) {
    super(message);
  }
}
