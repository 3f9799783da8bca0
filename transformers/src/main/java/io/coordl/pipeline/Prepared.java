package io.coordl.pipeline;

import io.coordl.cache.PreparedStore;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/** {@code prepared=share}. Thread-safe. */
public final class Prepared {
  final PreparedStore store;
  final BooleanSupplier keeps;
  final BiConsumer<String, String> chosen;
  private final Set<String> trusted;
  private final Set<String> met = ConcurrentHashMap.newKeySet();

  /**
   * What was asked for.
   *
   * @param trusted names of classes whose samples are the same each time, as the user says
   * @param keeps whether samples are to be kept now
   * @param chosen hears what is kept of a data set, and why
   */
  public Prepared(
      PreparedStore store,
      Set<String> trusted,
      BooleanSupplier keeps,
      BiConsumer<String, String> chosen) {
    this.keeps = keeps;
    this.chosen = chosen;
    this.store = store;
    this.trusted = Set.copyOf(trusted);
  }

  /** Whether the user vouches for the class of that name, an object of which is there. */
  public boolean trusts(String className) {
    return trusted.contains(className) && (met.contains(className) || met.add(className));
  }

  /** Why the user's word for a class brings nothing; empty if it does. */
  public String whyUnused(String className) {
    return met.contains(className) ? "" : "no data set or transform of that class was seen";
  }
}
