package io.coordl.reports.recording;

import io.coordl.reports.recording.EventReader.MissingFieldException;
import java.time.Instant;
import java.util.function.Function;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import org.jspecify.annotations.Nullable;

/**
 * An event read by the JDK; valid only as long as the JDK's own object, which may be reused.
 * Reading a field that is missing or has another type throws a {@link MissingFieldException}.
 */
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
  public long nanos() {
    return event.getDuration().toNanos();
  }

  @Override
  public long threadId() {
    RecordedThread thread = event.getThread();
    return thread == null ? 0 : thread.getJavaThreadId();
  }

  @Override
  public @Nullable String threadName() {
    RecordedThread thread = event.getThread();
    return thread == null ? null : thread.getJavaName();
  }

  @Override
  public boolean has(String field) {
    return event.hasField(field);
  }

  @Override
  public long number(String field) {
    return value(event::getLong, field);
  }

  @Override
  public double real(String field) {
    return value(event::getDouble, field);
  }

  @Override
  public boolean flag(String field) {
    return value(event::getBoolean, field);
  }

  @Override
  public @Nullable String text(String field) {
    return value(event::getString, field);
  }

  private <T> T value(Function<String, T> getter, String field) {
    try {
      return getter.apply(field);
    } catch (IllegalArgumentException e) {
      throw new MissingFieldException(event.getEventType().getName(), field);
    }
  }
}
