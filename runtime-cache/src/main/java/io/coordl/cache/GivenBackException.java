package io.coordl.cache;

/** The segment was given back: what lay there is kept no more. */
final class GivenBackException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Without a stack trace: readers meet it until they know better. */
  GivenBackException() {
    super("its memory was given back", null, false, false);
  }
}
