package io.coordl.staging;

/**
 * A batch was not prepared, and nothing of the agent failed: the program's own code threw, which
 * the program meets itself when it asks for the batch, the epoch ended, or the batch cannot be
 * shared, which the user was told.
 */
public final class NotPreparedException extends Exception {
  private static final long serialVersionUID = 1;

  /** With what the program's code threw, or why the batch is not shared. */
  public NotPreparedException(Throwable cause) {
    super(cause);
  }

  public NotPreparedException(String reason) {
    super(reason);
  }
}
