package io.coordl.reports.recording;

/**
 * A recording that cannot be reported on, or a report that cannot be written. The message is one
 * sentence for the user: which file, what is wrong with it and, where that is known, what to do.
 */
public final class RecordingException extends Exception {
  private static final long serialVersionUID = 1L;

  private final ExitStatus status;

  /** Of status {@link ExitStatus#UNREADABLE}. */
  public RecordingException(String sentence) {
    this(ExitStatus.UNREADABLE, sentence);
  }

  public RecordingException(ExitStatus status, String sentence) {
    super(sentence);
    this.status = status;
  }

  public ExitStatus status() {
    return status;
  }
}
