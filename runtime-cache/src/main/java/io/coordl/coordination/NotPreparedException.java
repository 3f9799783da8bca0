package io.coordl.coordination;

/**
 * A batch was not prepared, and the agent is not at fault: the program's own code threw, which the
 * program observes when it requests the batch; or the epoch ended; or the batch cannot be shared,
 * which was logged.
 */
public final class NotPreparedException extends Exception {
  private static final long serialVersionUID = 1;

  /** Wraps the exception of the program's code, or the reason why the batch is not shared. */
  public NotPreparedException(Throwable cause) {
    super(cause);
  }

  public NotPreparedException(String reason) {
    super(reason);
  }
}
