package io.coordl;

import java.time.Duration;

/** How long tests wait for an event that must come: the machine may be busy. */
public final class Waits {
  public static final Duration LONG = Duration.ofMinutes(10);

  private Waits() {}
}
