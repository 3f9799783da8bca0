package io.coordl.telemetry.log;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A log that can limit sentences of one kind to a single occurrence. Safe for concurrent use. */
public final class OnceLog implements UserLog {
  /** Limits memory: other processes may cause any number of kinds. */
  private static final int MAX_KINDS = 512;

  private final UserLog log;
  private final Set<String> logged = ConcurrentHashMap.newKeySet();

  public OnceLog(UserLog log) {
    this.log = log;
  }

  @Override
  public void say(String sentence) {
    log.say(sentence);
  }

  /** Logs the sentence, unless one of this kind or sentences of 512 kinds have been logged. */
  public void once(String kind, String sentence) {
    if (logged.size() < MAX_KINDS && logged.add(kind)) {
      say(sentence);
    }
  }

  public void once(String sentence) {
    once(sentence, sentence);
  }
}
