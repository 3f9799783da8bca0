package io.coordl.reports.recording;

/**
 * Told now and then how far the reading of a recording has come; called from one thread at a time.
 */
@FunctionalInterface
public interface Progress {
  Progress NONE = fraction -> {};

  /** Takes note of the part that is done, 0 to 1, never decreasing. */
  void at(double fraction);
}
