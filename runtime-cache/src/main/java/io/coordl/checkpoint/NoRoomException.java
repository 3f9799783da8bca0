package io.coordl.checkpoint;

/** Thrown if there is no memory for a snapshot. */
public final class NoRoomException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Without a stack trace, because it is not an error. */
  public NoRoomException() {
    super("no room for a snapshot", null, false, false);
  }
}
