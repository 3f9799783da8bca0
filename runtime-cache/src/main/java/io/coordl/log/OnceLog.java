package io.coordl.log;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A log that says each kind of sentence once. */
public final class OnceLog implements UserLog {
  /** Strangers may cause any number. */
  private static final int MOST_KINDS = 512;

  private final UserLog log;
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  public OnceLog(UserLog log) {
    this.log = log;
  }

  @Override
  public void say(String sentence) {
    log.say(sentence);
  }

  /** Says it, unless something of this kind was said before. */
  public void once(String kind, String sentence) {
    if (said.size() < MOST_KINDS && said.add(kind)) {
      say(sentence);
    }
  }

  public void once(String sentence) {
    once(sentence, sentence);
  }
}
