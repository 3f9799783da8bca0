package io.coordl.host;

/** Which jobs that share a file still run. Thread-safe. */
public interface JobLiveness {
  /** Whether the job still runs, even if it is suspended; true if unknown. */
  boolean alive(long job);

  /**
   * Runs {@code action} while no job joins or does the same; does not run it if that cannot be
   * ensured.
   */
  void alone(Runnable action);
}
