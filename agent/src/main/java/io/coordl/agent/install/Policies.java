package io.coordl.agent.install;

import io.coordl.bridge.ItemSource;
import io.coordl.cache.ArenaStore;
import io.coordl.cache.ByteBudget;
import io.coordl.cache.ItemFilter;
import io.coordl.cache.MinioCache;
import io.coordl.cache.StoreStatistics;
import io.coordl.recording.JobMonitor;
import io.coordl.recording.StoreView;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** From options to what they ask for. A policy that cannot be had is said, and left out. */
final class Policies {
  private Policies() {}

  /**
   * The source of items: observing only, or from a store, which the monitor closes when the job
   * ends.
   */
  static ItemSource items(Options options, JobMonitor job) {
    ItemFilter filter = filter(options, job);
    if (!options.get(Option.CACHE).equals("minio")) {
      return new MinioCache(null, filter);
    }
    String scope = options.get(Option.CACHE_SCOPE);
    ArenaStore store = store(options, scope, job);
    MinioCache cache = new MinioCache(store, filter);
    if (store != null) {
      job.addStore(() -> view(cache.statistics(), scope, store.group()), store);
    }
    return cache;
  }

  private static ItemFilter filter(Options options, JobMonitor job) {
    if (options.get(Option.DATASET).equals("inferred")) {
      return ItemFilter.inferred(job.spans()::loadingSample);
    }
    return ItemFilter.matching(options.list(Option.DATASET));
  }

  private static @Nullable ArenaStore store(Options options, String scope, JobMonitor job) {
    ByteBudget budget = ByteBudget.parse(options.get(Option.CACHE_SIZE));
    try {
      return scope.equals("host")
          ? ArenaStore.openHost(
              ArenaStore.SHARED_MEMORY, options.get(Option.GROUP), budget, job.log()::say)
          : ArenaStore.openProcess(ArenaStore.SHARED_MEMORY, budget, job.log()::say);
    } catch (IOException | RuntimeException e) {
      job.log().say(e.getMessage() + " The job runs without the cache.");
      return null;
    }
  }

  private static StoreView view(StoreStatistics s, String scope, String group) {
    return new StoreView(
        "raw",
        scope,
        group,
        s.capacity(),
        s.used(),
        s.items(),
        s.hits(),
        s.misses(),
        s.admitted(),
        s.bypassed(),
        s.hitBytes(),
        s.bypassedFull() > 0,
        s.jobs());
  }
}
