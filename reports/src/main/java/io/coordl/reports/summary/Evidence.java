package io.coordl.reports.summary;

import io.coordl.reports.recording.Arguments;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the findings look at.
 *
 * @param configuration the agent's arguments in force, defaults among them
 * @param given those that the user gave
 * @param hosts that hold the data set between them: this one, and those that it asked
 */
record Evidence(
    Figures totals,
    List<Summary.Pass> passes,
    List<Summary.Store> stores,
    Map<String, String> configuration,
    Map<String, String> given,
    String frameworks,
    int hosts) {

  /** A share of the wall time below this is not worth a change. */
  static final double WORTH_A_CHANGE = 0.05;

  boolean worthAChange(long nanos) {
    return judged().share(nanos) >= WORTH_A_CHANGE;
  }

  /**
   * What the job is judged by: its epochs but for the first, which warms up and fills caches; where
   * there is no other, the first; where none has ended, the whole job.
   */
  Figures judged() {
    Figures steady = sum(afterFirst(epochs()));
    if (steady.batches() > 0) {
      return steady;
    }
    Figures first = sum(epochs());
    return first.batches() > 0 ? first : totals;
  }

  /** What the judged time is of, to go on after "of the time" or a time; empty: the whole job. */
  String ofWhat() {
    List<Summary.Pass> epochs = epochs();
    boolean known = epochs.stream().anyMatch(pass -> pass.kind().equals(Summary.Pass.EPOCH));
    if (sum(afterFirst(epochs)).batches() > 0) {
      return known ? " from the second epoch on" : " after the first pass over each data set";
    }
    if (sum(epochs).batches() == 0) {
      return "";
    }
    return (epochs.size() == 1 ? " in the only " : " in the first ")
        + (known ? "epoch" : "pass over the data");
  }

  private List<Summary.Pass> epochs() {
    return passes.stream().filter(pass -> !pass.isEvaluation()).toList();
  }

  private static List<Summary.Pass> afterFirst(List<Summary.Pass> passes) {
    Set<String> seen = new HashSet<>();
    return passes.stream().filter(pass -> !seen.add(pipelineOf(pass))).toList();
  }

  private static Figures sum(List<Summary.Pass> passes) {
    return passes.stream().map(Summary.Pass::figures).reduce(Figures.NONE, Figures::plus);
  }

  /** All arguments to give next time: those the job had, and the changes. */
  List<String> with(String... changes) {
    return Arguments.merged(given, List.of(changes));
  }

  /** The same as the option of the JVM. */
  String agent(String... changes) {
    return Arguments.AGENT + String.join(",", with(changes));
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
   * Everything but the first pass of each pipeline, which fills the cache: what a longer job would
   * look like. Training and evaluation take turns, so the number of the pass does not tell.
   */
  Figures laterEpochs() {
    return sum(afterFirst(passes));
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
    return passes.stream()
        .collect(Collectors.toMap(Evidence::pipelineOf, pass -> pass.figures().bytes(), Long::max))
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

  private static String pipelineOf(Summary.Pass pass) {
    return pass.kind() + " " + pass.source();
  }

  boolean uses(String framework) {
    return frameworks.toLowerCase(Locale.ROOT).contains(framework);
  }
}
