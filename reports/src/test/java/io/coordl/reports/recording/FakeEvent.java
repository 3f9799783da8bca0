package io.coordl.reports.recording;

import java.time.Instant;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An event of the agent with numbers only.
 *
 * @param numbers returns the number in a field; null if the event lacks the field
 */
record FakeEvent(Function<String, @Nullable Long> numbers) implements JobEvent {
  @Override
  public Instant start() {
    return Instant.EPOCH;
  }

  @Override
  public Instant end() {
    return Instant.EPOCH;
  }

  @Override
  public boolean has(String field) {
    return numbers.apply(field) != null;
  }

  @Override
  public long number(String field) {
    return Objects.requireNonNull(numbers.apply(field));
  }

  @Override
  public double real(String field) {
    return number(field);
  }

  @Override
  public boolean flag(String field) {
    return false;
  }

  @Override
  public @Nullable String text(String field) {
    return null;
  }
}
