package io.coordl.log;

/** Takes sentences for the user. Safe for concurrent use. */
@FunctionalInterface
public interface UserLog {
  /** Says it, soon. */
  void say(String sentence);
}
