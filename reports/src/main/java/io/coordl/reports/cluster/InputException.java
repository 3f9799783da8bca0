package io.coordl.reports.cluster;

/**
 * A trace, a table or a cluster that cannot be used. The message is one sentence for the user: the
 * file and line where there are some, the value, and what was expected.
 */
public final class InputException extends Exception {
  private static final long serialVersionUID = 1L;

  public InputException(String sentence) {
    super(sentence);
  }
}
