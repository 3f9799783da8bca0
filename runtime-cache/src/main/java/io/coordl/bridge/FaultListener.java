package io.coordl.bridge;

/** Hears of every fault inside the agent; must not throw. */
public interface FaultListener {
  FaultListener NONE = Nothing.INSTANCE;

  /**
   * Something of ours failed and the program's own call was made instead; {@code tripped} if it was
   * one fault too many and the agent has switched itself off.
   */
  void fault(String where, Throwable cause, boolean tripped);
}
