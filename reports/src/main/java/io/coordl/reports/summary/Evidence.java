package io.coordl.reports.summary;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What the findings look at. */
record Evidence(
    Figures totals,
    List<Summary.Pass> epochs,
    List<Summary.Store> stores,
    Map<String, String> configuration,
    String frameworks) {

  /** A share of the wall time below this is not worth a change. */
  static final double WORTH_A_CHANGE = 0.05;

  boolean worthAChange(long nanos) {
    return totals.share(nanos) >= WORTH_A_CHANGE;
  }

  /** True if the MinIO cache was on. */
  boolean caching() {
    String cache = configuration.get("cache");
    return cache == null ? !stores.isEmpty() : cache.equals("minio");
  }

  /** Everything after the pass that filled the cache: what a longer job would look like. */
  Figures laterEpochs() {
    return epochs.stream()
        .filter(pass -> pass.epoch() > 1)
        .map(Summary.Pass::figures)
        .reduce(Figures.NONE, Figures::plus);
  }

  boolean laterEpochsWaitForFetches() {
    Figures later = laterEpochs();
    return later.share(later.fetchStallNanos()) >= WORTH_A_CHANGE;
  }

  /** True if a store had to turn items away. */
  boolean cacheFull() {
    return stores.stream().anyMatch(store -> store.bypassed() > 0);
  }

  /** The most bytes that one epoch asked for: what a cache must hold to answer all of it. */
  long epochBytes() {
    return epochs.stream().mapToLong(pass -> pass.figures().bytes()).max().orElse(0);
  }

  boolean uses(String framework) {
    return frameworks.toLowerCase(Locale.ROOT).contains(framework);
  }
}
