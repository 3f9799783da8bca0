package io.coordl.reports.cluster;

/**
 * An invalid trace, table or cluster. The message is one sentence for the user: the file and line
 * if known, the value, and the expected form.
 */
public final class InputException extends Exception {
  private static final long serialVersionUID = 1L;

  public InputException(String sentence) {
    super(sentence);
  }
}
