package io.coordl.reports.recording;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The events that a job writes for every batch, item or transform, and which of their fields are
 * read: at most one text, and numbers in this order (times in nanoseconds, sizes in bytes, false
 * and true as 0 and 1).
 */
enum FrequentType {
  DATA_STALL("io.coordl.DataStall", null, "fetch", "prep", "gc", "queue"),
  STEP("io.coordl.Step", null, "compute", "checkpoint"),
  BATCH("io.coordl.Batch", "source", "fetch", "decode", "transform", "other", "items"),
  FETCH("io.coordl.Fetch", "path", "fetchTime", "bytes", "memory"),
  DECODE("io.coordl.Decode", "codec"),
  TRANSFORM("io.coordl.Transform", "transform");

  private final String event;
  private final @Nullable String text;

  @SuppressWarnings("ImmutableEnumChecker") // made by List.of
  private final List<String> numbers;

  FrequentType(String event, @Nullable String text, String... numbers) {
    this.event = event;
    this.text = text;
    this.numbers = List.of(numbers);
  }

  String event() {
    return event;
  }

  @Nullable String text() {
    return text;
  }

  List<String> numbers() {
    return numbers;
  }

  static Optional<FrequentType> of(String event) {
    return Arrays.stream(values()).filter(type -> type.event.equals(event)).findFirst();
  }
}
