package io.coordl.reports.recording;

/**
 * Thrown if a command cannot do its work, for example because a recording cannot be read. The
 * message is for the user: the problem, usually with the file and what to do.
 */
public final class RecordingException extends Exception {
  private static final long serialVersionUID = 1L;

  private final ExitStatus status;

  /** Creates an exception with status {@link ExitStatus#UNREADABLE}. */
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
