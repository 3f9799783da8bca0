package io.coordl.advice;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What the advice looks at.
 *
 * @param configuration the agent's arguments in force, defaults among them
 * @param given those that the user gave
 * @param frameworks the training libraries in use
 * @param hosts that hold the data set between them: this one, and those that it asked
 */
public record Evidence(
    Figures totals,
    Passes passes,
    List<Store> stores,
    Map<String, String> configuration,
    Map<String, String> given,
    String frameworks,
    int hosts) {

  /** A share of the wall time below this is not worth a change. */
  public static final double WORTH_A_CHANGE = 0.05;

  /**
   * A store of items.
   *
   * @param full whether it turned an item away for want of room
   */
  public record Store(boolean decoded, boolean full, long capacityBytes) {}

  /** What the job is judged by: its steady epochs, else its first, else all that there is. */
  public Figures judged() {
    Figures ended = passes.judged();
    return ended.batches() > 0 ? ended : totals;
  }

  /** What the judged time is of, to go on after "of the time" or a time; empty: the whole job. */
  public String ofWhat() {
    return passes.ofWhat();
  }

  /** True if phases of a profile were made of the job. */
  public boolean profiled() {
    return isOn("profile");
  }

  /** Bytes that the hosts may keep of raw items, as far as they are alike. */
  public long capacityOfAllHosts() {
    return hosts
        * stores.stream().filter(store -> !store.decoded()).mapToLong(Store::capacityBytes).sum();
  }

  /** True if the MinIO cache was on. */
  boolean caching() {
    return configuration.containsKey("cache")
        ? isOn("cache")
        : stores.stream().anyMatch(store -> !store.decoded());
  }

  /** True if decoded items were kept. */
  boolean keepsDecoded() {
    return stores.stream().anyMatch(Store::decoded) || isOn("decoded");
  }

  /** Whether a policy has another value than off. */
  boolean isOn(String policy) {
    return !"off".equals(configuration.getOrDefault(policy, "off"));
  }

  /** True if a store had to turn items away. */
  boolean isFull(boolean decoded) {
    return stores.stream().anyMatch(store -> store.decoded() == decoded && store.full());
  }

  /** True if passes after the first still read from storage, and waited for it. */
  boolean laterEpochsWaitForFetches() {
    Figures later = passes.later();
    return later.storageItems() > 0 && later.share(later.fetchStallNanos()) >= WORTH_A_CHANGE;
  }

  boolean uses(String framework) {
    return frameworks.toLowerCase(Locale.ROOT).contains(framework);
  }
}
