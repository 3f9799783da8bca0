package io.coordl.reports.recording;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One event of a recording, whoever reads it: the JDK or JDK Mission Control. Numbers are in the
 * units that the agent writes: nanoseconds and bytes; timestamps are milliseconds since 1970.
 */
public interface JobEvent {
  /** When the event began. */
  Instant start();

  /** When the event ended; its start if it took no time. */
  Instant end();

  /** Nanoseconds from its start to its end. */
  default long nanos() {
    return Duration.between(start(), end()).toNanos();
  }

  /** Number of the thread that wrote it, 0 if not known. */
  default long threadId() {
    return 0;
  }

  /** Name of that thread; null if not known. */
  default @Nullable String threadName() {
    return null;
  }

  /** True if the event has the field. The methods below ask for no field that is not there. */
  boolean has(String field);

  /** A whole number, time or size. */
  long number(String field);

  /** A number with a fraction. */
  double real(String field);

  /** A truth. */
  boolean flag(String field);

  /** A text; null if there is none. */
  @Nullable String text(String field);
}
