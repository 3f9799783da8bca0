package io.coordl.bridge;

/** Receives every fault of the agent; must not throw. */
public interface FaultListener {
  FaultListener NONE = Nothing.INSTANCE;

  /**
   * Reports a failure of the agent; the program continues without the part that failed. {@code
   * tripped} is true if the agent has switched itself off because of this fault.
   */
  void fault(String where, Throwable cause, boolean tripped);
}
