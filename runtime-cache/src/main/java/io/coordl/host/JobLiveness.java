package io.coordl.host;

/** Reports which of the jobs that share a file still run. Thread-safe. */
public interface JobLiveness {
  /** Whether the job is still running, even if it is suspended; true if unknown. */
  boolean alive(long job);

  /**
   * Runs {@code action} while no job joins and no other job runs such an action; skips it if that
   * cannot be guaranteed.
   */
  void alone(Runnable action);
}
