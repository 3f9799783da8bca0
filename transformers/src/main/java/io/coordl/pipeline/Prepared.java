package io.coordl.pipeline;

import io.coordl.store.DecodedStore;
import io.coordl.store.PreparedStore;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/** The policy {@code prepared=share} as configured. Thread-safe. */
public final class Prepared {
  final PreparedStore store;
  final DecodedStore items;
  final BooleanSupplier keeps;
  final IntSupplier epochs;
  private final BiConsumer<String, String> chosen;
  private final Set<String> choices = ConcurrentHashMap.newKeySet();
  private final Set<String> trusted;
  private final Set<String> seenTrusted = ConcurrentHashMap.newKeySet();
  private final List<PreparedSamples> users = new CopyOnWriteArrayList<>();

  /**
   * Creates the policy.
   *
   * @param items store of samples that consist of one item each, in the same memory
   * @param trusted names of classes whose samples the user declared deterministic
   * @param keeps whether to cache samples now
   * @param epochs current number of epochs within which caching must pay off
   * @param chosen receives the cached form of each class of data sets, and the reason
   */
  public Prepared(
      PreparedStore store,
      DecodedStore items,
      Set<String> trusted,
      BooleanSupplier keeps,
      IntSupplier epochs,
      BiConsumer<String, String> chosen) {
    this.keeps = keeps;
    this.epochs = epochs;
    this.chosen = chosen;
    this.store = store;
    this.items = items;
    this.trusted = Set.copyOf(trusted);
  }

  /** Whether the user declared the class with this name deterministic. Records that it was seen. */
  public boolean trusts(String className) {
    return trusted.contains(className)
        && (seenTrusted.contains(className) || seenTrusted.add(className));
  }

  /** Reports each cached form once: training and validation data often have the same class. */
  void choose(String form, String reason) {
    if (choices.add(form)) {
      chosen.accept(form, reason);
    }
  }

  void addUser(PreparedSamples samples) {
    users.add(samples);
  }

  /** Whether a sample's items need not be cached, because the sample itself is or will be. */
  public boolean sparesItems(Object dataset, long index) {
    return keeps.getAsBoolean() && users.stream().anyMatch(one -> one.sparesItems(dataset, index));
  }

  /** Whether data sets were seen, but no samples are cached. */
  public boolean cachesNone() {
    boolean seen = false;
    for (PreparedSamples one : users) {
      Boolean none = one.cachesNone();
      if (Boolean.FALSE.equals(none)) {
        return false;
      }
      seen |= none != null;
    }
    return seen;
  }

  /** Returns the current number of epochs within which caching must pay off. */
  public int epochs() {
    return epochs.getAsInt();
  }

  /** Returns why declaring this class had no effect; empty if it had one. */
  public String whyUnused(String className) {
    return seenTrusted.contains(className)
        ? ""
        : "no data set or transform of that class was seen (record readers and iterators cannot be"
            + " declared)";
  }
}
