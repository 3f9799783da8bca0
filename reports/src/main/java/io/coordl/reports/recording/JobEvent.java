package io.coordl.reports.recording;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One event of a recording, whoever reads it: the JDK or JDK Mission Control. Numbers are in the
 * units that the agent writes: nanoseconds and bytes; timestamps are milliseconds since 1970.
 */
public interface JobEvent {
  Instant start();

  /** When the event ended; its start if it took no time. */
  Instant end();

  default long nanos() {
    return Duration.between(start(), end()).toNanos();
  }

  /** Number of the thread that wrote it, 0 if not known. */
  default long threadId() {
    return 0;
  }

  default @Nullable String threadName() {
    return null;
  }

  /** True if the event has the field. The methods below ask for no field that is not there. */
  boolean has(String field);

  /** A whole number, time or size. */
  long number(String field);

  double real(String field);

  boolean flag(String field);

  @Nullable String text(String field);
}
