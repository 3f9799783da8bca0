package io.coordl.reports.recording;

import org.jspecify.annotations.Nullable;

/** Takes frequent events one by one, in any order. */
@FunctionalInterface
interface FrequentEvents {
  /**
   * Takes note of an event.
   *
   * @param startNanos when it began, in nanoseconds since 1970
   * @param durationNanos 0 if the event has none
   * @param numbers the fields that {@link FrequentType#numbers()} names; overwritten after the call
   * @param text the field that {@link FrequentType#text()} names, null if there is none
   */
  void accept(
      FrequentType type,
      long startNanos,
      long durationNanos,
      long[] numbers,
      @Nullable String text);
}
