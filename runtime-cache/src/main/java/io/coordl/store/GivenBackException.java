package io.coordl.store;

/** The segment was given back, and its contents are no longer cached. */
final class GivenBackException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Has no stack trace: readers may cause many of these until they notice the loss. */
  GivenBackException() {
    super("its memory was given back", null, false, false);
  }
}
