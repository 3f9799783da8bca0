package io.coordl.reports;

/** A file that cannot be written. The message is one sentence for the user. */
final class OutputException extends Exception {
  private static final long serialVersionUID = 1L;

  OutputException(String sentence) {
    super(sentence);
  }
}
