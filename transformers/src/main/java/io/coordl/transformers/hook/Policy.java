package io.coordl.transformers.hook;

/** A policy for which library methods are intercepted, by the agent argument that asks for it. */
public enum Policy {
  PROFILE("profile=PHASE"),
  SHARE("decoded=share"),
  PREPARED("prepared=share"),
  COORDINATE("prep=coordinate"),
  PREFETCH("prefetch=N"),
  ATOMIC("checkpoint=atomic"),
  ASYNC("checkpoint=async"),
  CHECKPOINTS("checkpoint.every"),
  RESUME("resume");

  private final String argument;

  Policy(String argument) {
    this.argument = argument;
  }

  /** The argument, for the user. */
  @Override
  public String toString() {
    return argument;
  }
}
