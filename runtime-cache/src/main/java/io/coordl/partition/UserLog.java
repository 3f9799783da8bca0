package io.coordl.partition;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Sentences for the user, each kind of them once. Safe for concurrent use. */
public final class UserLog {
  /** Strangers may cause any number. */
  private static final int MOST_KINDS = 512;

  private final Consumer<String> sentences;
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  public UserLog(Consumer<String> sentences) {
    this.sentences = sentences;
  }

  /** Says it, unless something of this kind was said before. */
  public void once(String kind, String sentence) {
    if (said.size() < MOST_KINDS && said.add(kind)) {
      sentences.accept(sentence);
    }
  }

  /** Says it, unless it was said before. */
  public void once(String sentence) {
    once(sentence, sentence);
  }
}
