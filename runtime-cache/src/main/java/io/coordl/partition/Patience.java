package io.coordl.partition;

import java.time.Duration;

/**
 * How much longer than usual others are waited for: the system property {@code
 * coordl.peer.patience} says how many times. That is for tests which count what is read: on a
 * machine that is too busy to answer in time, items are read twice, as they should be.
 */
public final class Patience {
  private Patience() {}

  /** 1, or what the property says. */
  public static int factor() {
    return Math.max(1, Integer.getInteger("coordl.peer.patience", 1));
  }

  /** A usual wait, as long as it is to be. */
  public static Duration of(Duration usual) {
    return usual.multipliedBy(factor());
  }
}
