package io.coordl.profile;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An accelerator emulated as in MLPerf Storage: a step sleeps for a given time.
 *
 * @param stepNanos duration of a step
 * @param instances number of instances of the program that measure at the same time
 * @param meeting directory through which they synchronise; unused by a single instance
 */
public record Accelerator(long stepNanos, int instances, Path meeting) {
  private static final Pattern TEXT =
      Pattern.compile("(\\d{1,6}(?:\\.\\d{1,3})?)(?::([1-9]\\d{0,3}):(.+))?");
  private static final long MIN_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  /** Parses {@code MILLISECONDS} or {@code MILLISECONDS:INSTANCES:DIR}. */
  public static Accelerator parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException("expected MILLISECONDS[:INSTANCES:DIR], not " + text);
    }
    long nanos = Math.round(1e6 * Double.parseDouble(parts.group(1)));
    if (nanos < MIN_NANOS) {
      throw new IllegalArgumentException("the step is shorter than 0.1 ms: " + text);
    }
    return parts.group(2) == null
        ? new Accelerator(nanos, 1, Path.of(""))
        : new Accelerator(nanos, Integer.parseInt(parts.group(2)), Path.of(parts.group(3)));
  }
}
