package io.coordl.reports.summary;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the findings look at.
 *
 * @param hosts that hold the data set between them: this one, and those that it asked
 */
record Evidence(
    Figures totals,
    List<Summary.Pass> epochs,
    List<Summary.Store> stores,
    Map<String, String> configuration,
    String frameworks,
    int hosts) {

  /** A share of the wall time below this is not worth a change. */
  static final double WORTH_A_CHANGE = 0.05;

  boolean worthAChange(long nanos) {
    return totals.share(nanos) >= WORTH_A_CHANGE;
  }

  /** True if the MinIO cache was on. */
  boolean caching() {
    String cache = configuration.get("cache");
    return cache == null ? stores.stream().anyMatch(Evidence::isRaw) : cache.equals("minio");
  }

  /** True if phases of a profile were made of the job. */
  boolean profiled() {
    return !"off".equals(configuration.getOrDefault("profile", "off"));
  }

  /** True if decoded items were kept. */
  boolean keepsDecoded() {
    return !stores.stream().allMatch(Evidence::isRaw)
        || "share".equals(configuration.get("decoded"));
  }

  /** True if the agent prepared ahead. */
  boolean prefetches() {
    return !"off".equals(configuration.getOrDefault("prefetch", "off"));
  }

  /** True if the jobs of a group prepared for each other. */
  boolean coordinates() {
    return "coordinate".equals(configuration.get("prep"));
  }

  private static boolean isRaw(Summary.Store store) {
    return !"decoded".equals(store.store());
  }

  /**
   * Everything but the first pass over each source, which fills the cache: what a longer job would
   * look like. Training and validation sets take turns, so the number of the pass does not tell.
   */
  Figures laterEpochs() {
    Set<String> seen = new HashSet<>();
    return epochs.stream()
        .filter(pass -> !seen.add(sourceOf(pass)))
        .map(Summary.Pass::figures)
        .reduce(Figures.NONE, Figures::plus);
  }

  /** True if passes after the first still read from storage, and waited for it. */
  boolean laterEpochsWaitForFetches() {
    Figures later = laterEpochs();
    return later.storageItems() > 0 && later.share(later.fetchStallNanos()) >= WORTH_A_CHANGE;
  }

  /** True if the cache had to turn items away. */
  boolean cacheFull() {
    return stores.stream().filter(Evidence::isRaw).anyMatch(store -> store.bypassed() > 0);
  }

  /** True if the store of decoded items had to turn some away. */
  boolean decodedFull() {
    return stores.stream().filter(store -> !isRaw(store)).anyMatch(store -> store.bypassed() > 0);
  }

  /** The most bytes that a pass asked for, over all sources: what a cache must hold. */
  long epochBytes() {
    return epochs.stream()
        .collect(Collectors.toMap(Evidence::sourceOf, pass -> pass.figures().bytes(), Long::max))
        .values()
        .stream()
        .mapToLong(Long::longValue)
        .sum();
  }

  /** Bytes that the hosts may keep of raw items, as far as they are alike. */
  long capacityOfAllHosts() {
    return hosts
        * stores.stream().filter(Evidence::isRaw).mapToLong(Summary.Store::capacityBytes).sum();
  }

  private static String sourceOf(Summary.Pass pass) {
    return String.valueOf(pass.source());
  }

  boolean uses(String framework) {
    return frameworks.toLowerCase(Locale.ROOT).contains(framework);
  }
}
