package io.coordl.telemetry.log;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Logs sentences for the user. Safe for concurrent use. */
@FunctionalInterface
public interface UserLog {
  void say(String sentence);

  /** Logs a sentence with values, formatted as by {@link String#format}. */
  default void say(String format, @Nullable Object... values) {
    say(String.format(Locale.ROOT, format, values));
  }
}
