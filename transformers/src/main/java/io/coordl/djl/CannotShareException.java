package io.coordl.djl;

/** A pass that cannot be shared; the message goes on with "its ..", for the user. */
final class CannotShareException extends Exception {
  private static final long serialVersionUID = 1;

  private final String reason;

  CannotShareException(String reason) {
    super(reason);
    this.reason = reason;
  }

  String reason() {
    return reason;
  }
}
