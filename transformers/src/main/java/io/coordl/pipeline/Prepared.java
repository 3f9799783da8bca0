package io.coordl.pipeline;

import io.coordl.store.PreparedStore;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/** {@code prepared=share}. Thread-safe. */
public final class Prepared {
  final PreparedStore store;
  final BooleanSupplier keeps;
  final IntSupplier epochs;
  final BiConsumer<String, String> chosen;
  private final Set<String> trusted;
  private final Set<String> met = ConcurrentHashMap.newKeySet();
  private final List<PreparedSamples> users = new CopyOnWriteArrayList<>();

  /**
   * Creates the policy as configured.
   *
   * @param trusted names of classes whose samples the user declared to be the same each time
   * @param keeps whether samples are to be kept now
   * @param epochs number of epochs within which keeping has to pay off, as of now
   * @param chosen receives what is kept of a data set, and why
   */
  public Prepared(
      PreparedStore store,
      Set<String> trusted,
      BooleanSupplier keeps,
      IntSupplier epochs,
      BiConsumer<String, String> chosen) {
    this.keeps = keeps;
    this.epochs = epochs;
    this.chosen = chosen;
    this.store = store;
    this.trusted = Set.copyOf(trusted);
  }

  /**
   * Whether the user declared the class of that name deterministic; notes that an object was seen.
   */
  public boolean trusts(String className) {
    return trusted.contains(className) && (met.contains(className) || met.add(className));
  }

  void addUser(PreparedSamples samples) {
    users.add(samples);
  }

  /**
   * Whether a sample's items are better not kept, because the sample itself is kept or about to be.
   */
  public boolean sparesItems(Object dataset, long index) {
    return keeps.getAsBoolean() && users.stream().anyMatch(one -> one.sparesItems(dataset, index));
  }

  /** Whether a data set was seen, but no samples of any are kept. */
  public boolean leavesAll() {
    boolean seen = false;
    for (PreparedSamples one : users) {
      Boolean left = one.leavesAll();
      if (Boolean.FALSE.equals(left)) {
        return false;
      }
      seen |= left != null;
    }
    return seen;
  }

  /** Number of epochs within which keeping has to pay off, as of now. */
  public int epochs() {
    return epochs.getAsInt();
  }

  /** Why declaring this class had no effect; empty if it had one. */
  public String whyUnused(String className) {
    return met.contains(className) ? "" : "no data set or transform of that class was seen";
  }
}
