package io.coordl.bridge;

/**
 * Ends the preparation of a batch on an agent thread before it opens a file that it must not read
 * early: reading a pipe takes data from the program, and the content of a file below {@code /proc}
 * depends on the time. It is an error, so that the program's handlers of exceptions let it pass.
 */
public final class EarlyFileError extends Error {
  private static final long serialVersionUID = 1;

  /** Ends a preparation that is about to open the file at {@code path}. */
  public EarlyFileError(String path) {
    super("not read early: " + path, null, false, false);
  }
}
