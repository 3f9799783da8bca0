package io.coordl;

import java.time.Duration;

/** A generous time limit for events that must happen, even on a busy machine. */
public final class Waits {
  public static final Duration LONG = Duration.ofMinutes(10);

  private Waits() {}
}
