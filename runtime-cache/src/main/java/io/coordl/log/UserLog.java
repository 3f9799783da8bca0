package io.coordl.log;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Takes sentences for the user. Safe for concurrent use. */
@FunctionalInterface
public interface UserLog {
  void say(String sentence);

  /** Says a sentence that has values in it, as {@link String#format} puts them there. */
  default void say(String format, @Nullable Object... values) {
    say(String.format(Locale.ROOT, format, values));
  }
}
