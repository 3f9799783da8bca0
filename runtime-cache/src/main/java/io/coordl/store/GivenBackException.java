package io.coordl.store;

/** The segment was given back, and its contents are no longer cached. */
final class GivenBackException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Without a stack trace: readers may hit it until they notice that the segment is gone. */
  GivenBackException() {
    super("its memory was given back", null, false, false);
  }
}
