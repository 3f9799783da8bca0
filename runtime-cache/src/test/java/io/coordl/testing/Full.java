package io.coordl.testing;

/** Whether long test series run in full (-Pfull) or in part. Thread-safe. */
public final class Full {
  /** Set by the build. */
  public static final boolean ON = Boolean.getBoolean("coordl.full");

  private Full() {}

  /** {@code all} with -Pfull, else a tenth of it. */
  public static int orTenth(int all) {
    return ON ? all : all / 10;
  }
}
