package io.coordl.reports.recording;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A rare event as we have read it: its fields by name, as long, double, boolean or text. */
record FlatEvent(Instant start, Instant end, Map<String, @Nullable Object> fields)
    implements JobEvent {

  @Override
  public boolean has(String field) {
    return fields.containsKey(field);
  }

  @Override
  public long number(String field) {
    return as(Long.class, field);
  }

  @Override
  public double real(String field) {
    return fields.get(field) instanceof Long whole ? whole : as(Double.class, field);
  }

  @Override
  public boolean flag(String field) {
    return as(Boolean.class, field);
  }

  @Override
  public @Nullable String text(String field) {
    return fields.get(field) == null ? null : as(String.class, field);
  }

  /** As the JDK, refuses to read a field as what it is not. */
  private <T> T as(Class<T> type, String field) {
    if (!type.isInstance(fields.get(field))) {
      throw new IllegalArgumentException(field + " is no " + type.getSimpleName());
    }
    return type.cast(fields.get(field));
  }
}
