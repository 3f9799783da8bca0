package io.coordl.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures how late sleeps of {@value #MILLIS} ms end on this machine, until closed. Thread-safe.
 */
final class Lateness implements AutoCloseable {
  private static final int MILLIS = 10;

  private record Sleep(long end, long late) {}

  private final List<Sleep> sleeps = new ArrayList<>();
  private final Thread sleeper = new Thread(this::run, "lateness");

  Lateness() {
    sleeper.setDaemon(true);
    sleeper.start();
  }

  private void run() {
    long begin = System.nanoTime();
    while (true) {
      try {
        Thread.sleep(MILLIS);
      } catch (InterruptedException e) {
        return;
      }
      long end = System.nanoTime();
      synchronized (this) {
        sleeps.add(new Sleep(end, end - begin - MILLIS * 1_000_000L));
      }
      begin = end;
    }
  }

  /** Describes the lateness since {@code begin}, a value of {@link System#nanoTime}. */
  synchronized String since(long begin) {
    long[] late =
        sleeps.stream()
            .filter(sleep -> sleep.end - begin > 0)
            .mapToLong(Sleep::late)
            .sorted()
            .toArray();
    if (late.length == 0) {
      return "no sleep to compare with";
    }
    return String.format(
        Locale.ROOT,
        "sleeps ended late by %.1f ms (median), %.1f (99 %%), %.0f (worst)",
        late[late.length / 2] / 1e6,
        late[late.length * 99 / 100] / 1e6,
        late[late.length - 1] / 1e6);
  }

  @Override
  public void close() {
    sleeper.interrupt();
  }
}
