package io.coordl.shared;

/** Which jobs that share a file still run. Thread-safe. */
public interface JobLiveness {
  /** Whether the job still runs, stopped or not; if that cannot be told, it does. */
  boolean alive(long job);

  /**
   * Runs {@code action} while no job joins or does the same; not at all if that is not to be had.
   */
  void alone(Runnable action);
}
