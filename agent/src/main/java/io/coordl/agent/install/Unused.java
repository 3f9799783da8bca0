package io.coordl.agent.install;

import io.coordl.items.ItemFilter;
import io.coordl.library.Library;
import io.coordl.library.catalog.Libraries;
import io.coordl.store.Outcome;
import io.coordl.store.StoreStatistics;
import io.coordl.telemetry.advice.Text.Bytes;
import io.coordl.telemetry.event.PeerStatisticsEvent;
import io.coordl.telemetry.event.StagingStatisticsEvent;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Derives from the counters why a policy had no effect; a reason is empty if the policy had an
 * effect. Reasons reported by the library adapters are more precise and take precedence.
 */
final class Unused {
  private Unused() {}

  /**
   * Returns the reason for a store of raw items or decoded images.
   *
   * @param store null if there is none
   * @param what kind of item that the store caches: "raw item", "decoded image"
   * @param before stores that are searched first, by item kind; another job may have filled them
   */
  static String store(
      @Nullable StoreStatistics store,
      ItemFilter filter,
      String what,
      Map<String, StoreStatistics> before) {
    return store(store, what, statistics -> nothingCached(statistics, filter, what, before));
  }

  private static String nothingCached(
      StoreStatistics store, ItemFilter filter, String what, Map<String, StoreStatistics> before) {
    long misses = store.misses();
    if (misses > 0) {
      return String.format(
          "no %s could be cached: of %s requested, %s changed while being read, %s could not be"
              + " read, %s were being read by others, %s were skipped to leave room for items in"
              + " another form, and %s were left to the program's own call",
          what,
          misses,
          store.of(Outcome.CHANGED),
          store.of(Outcome.UNREADABLE),
          store.of(Outcome.BUSY),
          store.of(Outcome.SPARED),
          store.of(Outcome.OBSERVED));
    }
    for (Map.Entry<String, StoreStatistics> served : before.entrySet()) {
      long hits = served.getValue().of(Outcome.HIT);
      if (hits > 0) {
        return String.format(
            "no %s was needed: %s %ss came from their cache", what, hits, served.getKey());
      }
    }
    String none = filter.whyNoItems();
    return none.isEmpty() ? "no " + what + " came from a call that the agent intercepts" : none;
  }

  /** Returns the reason for {@code prepared=share}. */
  static String prepared(@Nullable StoreStatistics store, Libraries libraries) {
    return store(
        store,
        "sample",
        statistics ->
            statistics.of(Outcome.SPARED) > 0
                ? "random numbers were drawn for each sample, or samples are not just arrays of"
                    + " numbers"
                : libraries.all().stream()
                    .map(Library::kept)
                    .filter(kept -> !kept.isEmpty())
                    .collect(Collectors.joining(" or ", "no sample or batch came from ", "")));
  }

  private static String store(
      @Nullable StoreStatistics store,
      String what,
      Function<StoreStatistics, String> nothingCached) {
    if (store == null) {
      return "its cache has no memory, as reported at the start of the job";
    } else if (store.of(Outcome.HIT) + store.of(Outcome.PEER) > 0) {
      return "";
    } else if (store.of(Outcome.ADMITTED) > 0) {
      return String.format(
          "this job did not reuse any of the %s %ss that it cached",
          store.of(Outcome.ADMITTED), what);
    }
    return store.of(Outcome.FULL) > 0
        ? "no " + what + " fits into its cache of " + new Bytes(store.capacity())
        : nothingCached.apply(store);
  }

  static String prefetch(String effect, boolean hasStore) {
    if (!effect.isEmpty()) {
      return "";
    }
    return "the order of samples or files was not known in advance"
        + (hasStore ? "" : ", and items are only prefetched with cache=minio or decoded=share");
  }

  static String prep(List<StagingStatisticsEvent> pipelines, String group) {
    if (pipelines.stream().anyMatch(s -> s.sharedEpochs > 0)) {
      return "";
    }
    return pipelines.stream().anyMatch(s -> s.epochs > 0)
        ? String.format(
            "no other job of group %s used the same data in the same way at the same time", group)
        : "the program has no pipeline that jobs can share";
  }

  static String peers(List<PeerStatisticsEvent> peers) {
    if (peers.isEmpty()) {
      return "no item was requested from another host";
    }
    return peers.stream().anyMatch(peer -> peer.found + peer.kept > 0)
        ? ""
        : "none of the queried hosts had or cached a requested item";
  }
}
