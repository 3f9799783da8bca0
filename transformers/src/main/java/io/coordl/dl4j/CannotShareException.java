package io.coordl.dl4j;

/** Something that cannot be shared; the message says what: "readers of streams". */
final class CannotShareException extends Exception {
  private static final long serialVersionUID = 1;

  CannotShareException(String what) {
    super(what);
  }
}
