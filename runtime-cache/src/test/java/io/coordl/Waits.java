package io.coordl;

import java.time.Duration;

/** How long tests wait for what must come: a machine may do much else meanwhile. */
public final class Waits {
  public static final Duration LONG = Duration.ofMinutes(10);

  private Waits() {}
}
