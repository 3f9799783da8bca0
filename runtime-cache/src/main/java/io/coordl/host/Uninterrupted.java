package io.coordl.host;

/** Waits; an interrupt of the waiting thread neither ends the wait nor is lost. */
public final class Uninterrupted {
  private Uninterrupted() {}

  public interface Attempt {
    /** Waits at most {@code nanos}; returns whether the condition holds. */
    boolean within(long nanos) throws InterruptedException;
  }

  public static boolean await(long nanos, Attempt attempt) {
    long deadline = System.nanoTime() + nanos;
    boolean interrupted = false;
    boolean holds = false;
    long left;
    while (!holds && (left = deadline - System.nanoTime()) > 0) {
      try {
        holds = attempt.within(left);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return holds;
  }
}
