package io.coordl.reports.recording;

/**
 * A recording that cannot be reported on. The message is one sentence for the user: which file,
 * what is wrong with it and, where that is known, what to do.
 */
public final class RecordingException extends Exception {
  private static final long serialVersionUID = 1L;

  public RecordingException(String sentence) {
    super(sentence);
  }
}
