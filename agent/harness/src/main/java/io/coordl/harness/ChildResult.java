package io.coordl.harness;

import java.time.Duration;

/**
 * Exit status, output and times of a child process.
 *
 * @param exit its exit status; 128 + signal if it was killed
 * @param timedOut whether it was killed because it ran too long
 * @param out its standard output
 * @param err its standard error
 * @param wall time from start to end
 * @param cpuSeconds user and system time of the JVM; NaN if unknown
 */
public record ChildResult(
    int exit, boolean timedOut, String out, String err, Duration wall, double cpuSeconds) {
  /**
   * Returns this result if the exit status is 0.
   *
   * @throws IllegalStateException if it is not 0; the message ends with the last part of the output
   */
  public ChildResult orFail(String what) {
    if (exit == 0) {
      return this;
    }
    throw new IllegalStateException(
        what
            + (timedOut ? " ran too long and was killed" : " ended with exit status " + exit)
            + ". The end of its output:\n"
            + end(out, timedOut ? 100_000 : 2_000) // Room for all threads of a program that hung.
            + end(err, 2_000));
  }

  private static String end(String text, int maxLength) {
    return text.substring(Math.max(0, text.length() - maxLength));
  }
}
