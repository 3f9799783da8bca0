package io.coordl.coordination;

/**
 * Thrown if a batch was not prepared and the agent is not at fault: the program's own code failed
 * (the program sees the exception when it requests the batch), the epoch ended, or the batch cannot
 * be shared (already logged).
 */
public final class NotPreparedException extends Exception {
  private static final long serialVersionUID = 1;

  /**
   * Wraps the exception thrown by the program's code, or the reason why the batch is not shared.
   */
  public NotPreparedException(Throwable cause) {
    super(cause);
  }

  public NotPreparedException(String reason) {
    super(reason);
  }
}
