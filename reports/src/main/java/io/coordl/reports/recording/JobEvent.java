package io.coordl.reports.recording;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One event of a recording, read by the JDK or by JDK Mission Control. Numbers are in the units
 * that the agent writes: nanoseconds and bytes; timestamps are milliseconds since 1970.
 */
public interface JobEvent {
  Instant start();

  /** Returns when the event ended; its start if it took no time. */
  Instant end();

  default long nanos() {
    return Duration.between(start(), end()).toNanos();
  }

  /** Returns the id of the thread that wrote the event; 0 if unknown. */
  default long threadId() {
    return 0;
  }

  default @Nullable String threadName() {
    return null;
  }

  /** Returns whether the event has the field; call the methods below only for existing fields. */
  boolean has(String field);

  /** Returns a whole number, time or size. */
  long number(String field);

  double real(String field);

  boolean flag(String field);

  @Nullable String text(String field);
}
