package io.coordl.event;

import jdk.jfr.Event;

/** Takes the agent's events; any thread may call it. Never throws, never waits for storage. */
@FunctionalInterface
public interface EventSink {
  /**
   * Takes an event whose fields do not change any more.
   *
   * @param start {@link System#nanoTime} when it began
   * @param end {@link System#nanoTime} when it ended
   */
  void write(Event event, long start, long end);

  /** Takes an event that has no duration. */
  default void write(Event event) {
    long now = System.nanoTime();
    write(event, now, now);
  }
}
