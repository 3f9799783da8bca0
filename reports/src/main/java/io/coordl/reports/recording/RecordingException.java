package io.coordl.reports.recording;

/**
 * A recording that cannot be reported on. The message is one sentence for the user: which file,
 * what is wrong with it and, where that is known, what to do.
 */
public final class RecordingException extends Exception {
  private static final long serialVersionUID = 1L;

  public enum Kind {
    /** The file is not there, may not be read, is no regular file, or changed while it was read. */
    UNREADABLE,
    /** The file is empty, or something else than a recording. */
    NO_RECORDING,
    /** The file is a recording of which something is missing or overwritten. */
    DAMAGED,
    /** The recording has none of the agent's events, or not those that are asked for. */
    WITHOUT_OUR_EVENTS,
    /** The agent's events lack what this version reads. */
    OTHER_VERSION,
    /** The file holds recordings of several JVMs or runs. */
    SEVERAL_RUNS
  }

  private final Kind kind;

  /** Of kind {@link Kind#UNREADABLE}. */
  public RecordingException(String sentence) {
    this(Kind.UNREADABLE, sentence);
  }

  public RecordingException(Kind kind, String sentence) {
    super(sentence);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }
}
