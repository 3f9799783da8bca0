package io.coordl.telemetry.advice;

import io.coordl.telemetry.advice.Text.Nanos;
import io.coordl.telemetry.event.OpenWaitEvent;

/** Describes an unfinished wait for a batch. */
public final class OpenWaitText {
  private static final int LONGEST_NAME = 100;

  private OpenWaitText() {}

  /** Describes the wait while the job runs. */
  public static String soFar(OpenWaitEvent wait) {
    return text(Sentence.OPEN_WAIT, wait);
  }

  /** Describes the wait after the job has ended. */
  public static String atEnd(OpenWaitEvent wait) {
    return text(Sentence.NEVER_CAME, wait);
  }

  private static String text(Sentence how, OpenWaitEvent wait) {
    boolean isKnown = wait.file != null && !wait.file.isEmpty();
    return how.with(
        Text.line(String.valueOf(wait.thread), LONGEST_NAME),
        new Nanos(wait.waited),
        new Nanos(wait.longest),
        isKnown
            ? Sentence.LAST_FILE.with(
                Text.line(String.valueOf(wait.file), LONGEST_NAME),
                Text.line(String.valueOf(wait.reader), LONGEST_NAME))
            : "");
  }
}
