package io.coordl.reports.recording;

import java.time.Instant;
import jdk.jfr.consumer.RecordedEvent;
import org.jspecify.annotations.Nullable;

/** An event as the JDK reads it; valid as long as the JDK's own, which may be used again. */
record RecordedJobEvent(RecordedEvent event) implements JobEvent {
  @Override
  public Instant start() {
    return event.getStartTime();
  }

  @Override
  public Instant end() {
    return event.getEndTime();
  }

  @Override
  public boolean has(String field) {
    return event.hasField(field);
  }

  @Override
  public long number(String field) {
    return event.getLong(field);
  }

  @Override
  public double real(String field) {
    return event.getDouble(field);
  }

  @Override
  public boolean flag(String field) {
    return event.getBoolean(field);
  }

  @Override
  public @Nullable String text(String field) {
    return event.getString(field);
  }
}
