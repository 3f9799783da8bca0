package io.coordl.bridge;

/** The listener before the agent is installed. */
final class NoFaults implements FaultListener {
  @Override
  public void fault(String where, Throwable cause, boolean tripped) {}
}
