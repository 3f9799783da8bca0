package io.coordl.harness;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/** The steps that undo what was set up on this machine, in reverse order. Not thread-safe. */
public final class Cleanup {
  private final Deque<Step> steps = new ArrayDeque<>();

  /** Undoes one change. */
  public interface Step {
    /** Undoes the change; called once. */
    void run() throws IOException, InterruptedException;
  }

  /** Adds a step, which runs before those added earlier. */
  public void push(Step step) {
    steps.push(step);
  }

  /** Whether nothing is left to undo. */
  public boolean isEmpty() {
    return steps.isEmpty();
  }

  /**
   * Runs every step, even if some throw an IOException or this thread is interrupted.
   *
   * @throws IOException of the first step that failed, with those of the others suppressed
   */
  public void run() throws IOException {
    IOException first = null;
    while (!steps.isEmpty()) {
      try {
        steps.pop().run();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (IOException e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
