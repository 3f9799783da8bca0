package io.coordl.telemetry.event;

import jdk.jfr.Event;

/** Receives the agent's events; any thread may call it. Never throws, never waits for storage. */
@FunctionalInterface
public interface EventSink {
  /**
   * Writes an event whose fields no longer change.
   *
   * @param start {@link System#nanoTime} when it began
   * @param end {@link System#nanoTime} when it ended
   */
  void write(Event event, long start, long end);

  /** Writes an event without a duration. */
  default void write(Event event) {
    long now = System.nanoTime();
    write(event, now, now);
  }
}
