package io.coordl.transformers.hook;

/** A policy that intercepts library methods, with the agent argument that requests it. */
public enum Policy {
  PROFILE("profile=PHASE"),
  SHARE("decoded=share"),
  PREPARED("prepared=share"),
  CHECK("prepared=check"),
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

  /** The argument, as shown to the user. */
  @Override
  public String toString() {
    return argument;
  }
}
