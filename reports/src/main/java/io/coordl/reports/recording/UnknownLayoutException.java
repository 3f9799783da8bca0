package io.coordl.reports.recording;

/** A recording is written in a way that we do not know, and the JDK may: its parser has to read. */
final class UnknownLayoutException extends Exception {
  private static final long serialVersionUID = 1L;

  UnknownLayoutException(String what) {
    super(what);
  }
}
